import { DatabaseSync } from 'node:sqlite';

/** One run of a handler that came as far as its effect. */
interface Effect {
  readonly key: string;
  readonly worker: string;
}

/** The outside world of a drill: a table in a file of its own that counts every run. It knows nothing of Surety. */
export interface Effects extends Disposable {
  record(key: string, worker: string): void;
  /** In the order in which they happened. */
  all(): readonly Effect[];
}

/** 30 s: one short statement each; waiting longer would mean a fault, unless a process that holds the lock is frozen. */
const BUSY_MS = 30_000;

/** Opens the table, made if it is not there. Several processes may have it open. */
export function openEffects(file: string): Effects {
  const db = new DatabaseSync(file, { timeout: BUSY_MS });
  // What dies here are processes, not the machine.
  db.exec('pragma journal_mode = wal; pragma synchronous = normal');
  db.exec(
    'create table if not exists effect (seq integer primary key, key text not null, worker text not null) strict',
  );
  const record = db.prepare('insert into effect (key, worker) values (?, ?)');
  const all = db.prepare('select key, worker from effect order by seq');
  return {
    record: (key, worker) => void record.run(key, worker),
    all: () => all.all().map((row) => ({ key: String(row['key']), worker: String(row['worker']) })),
    [Symbol.dispose]: () => db.close(),
  };
}
