import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';

/** What one delivery did to the outside world. */
export interface Effect {
  readonly key: string;
  /** How often a handler came as far as the effect: more than 1 after a crash between the effect and the end of the job. */
  readonly runs: number;
  readonly firstWorker: string;
  readonly lastWorker: string;
}

/** The outside world of the demo: a table beside the jobs, in a database of its own, which knows nothing of Surety. */
export interface Effects extends Disposable {
  /** The first run inserts, a later one is only counted: the key makes running twice harmless. */
  record(effect: { readonly key: string; readonly login: string; readonly worker: string }): void;
  all(): readonly Effect[];
  count(): number;
}

const SCHEMA = `
  create table if not exists effects (
    idempotency_key text primary key,
    login text not null,
    first_worker text not null,
    last_worker text not null,
    runs integer not null default 1
  ) strict`;
const RECORD = `
  insert into effects (idempotency_key, login, first_worker, last_worker) values (:key, :login, :worker, :worker)
  on conflict (idempotency_key) do update set runs = runs + 1, last_worker = excluded.last_worker`;

/** Opens the table, made if it is not there. Several processes may have it open. */
export function openEffects(file: string): Effects {
  // 10 s: the workers write one short statement each, so that waiting longer would mean a fault.
  const db = new DatabaseSync(file, { timeout: 10_000 });
  db.exec('pragma journal_mode = wal');
  db.exec(SCHEMA);
  const record = db.prepare(RECORD);
  const all = db.prepare('select idempotency_key, runs, first_worker, last_worker from effects');
  const count = db.prepare('select count(*) as rows from effects');
  return {
    record: ({ key, login, worker }) => void record.run({ key, login, worker }),
    all: () => all.all().map(effectOf),
    count: () => Number(count.get()?.['rows']),
    [Symbol.dispose]: () => db.close(),
  };
}

function effectOf(row: Record<string, SQLOutputValue>): Effect {
  return {
    key: String(row['idempotency_key']),
    runs: Number(row['runs']),
    firstWorker: String(row['first_worker']),
    lastWorker: String(row['last_worker']),
  };
}
