import { DatabaseSync } from 'node:sqlite';

/** The three ways to write a handler whose effect happens once. */
export const PATTERNS = ['upsert', 'reference', 'forward'] as const;
/** See {@link PATTERNS}. */
export type Pattern = (typeof PATTERNS)[number];

/** How often one subject was worked, and what came of it. */
interface Outcome {
  readonly subject: string;
  readonly runs: number;
  /** Changes that the table has seen, counted by triggers: whatever the handler believes. */
  readonly effects: number;
  readonly workers: number;
  /** Different idempotency keys that the runs were given. */
  readonly keys: number;
}

/** The application's own database. */
export interface Shop extends Disposable {
  readonly db: DatabaseSync;
  /** An order that waits for being shipped. */
  addOrder(id: string): void;
  noteRun(subject: string, worker: string, key: string): void;
  outcomes(): readonly Outcome[];
}

const SCHEMA = `
  create table if not exists run (subject text not null, worker text not null, key text not null) strict;
  create table if not exists effect (subject text not null) strict;
  create table if not exists profile (user_id text primary key, email text not null) strict;
  create table if not exists charge (reference text primary key, order_id text not null, cents integer not null) strict;
  create table if not exists orders (id text primary key, state text not null, parcel text) strict;
  create trigger if not exists profile_made after insert on profile
    begin insert into effect values (new.user_id); end;
  create trigger if not exists profile_changed after update on profile when old.email is not new.email
    begin insert into effect values (new.user_id); end;
  create trigger if not exists charged after insert on charge
    begin insert into effect values (new.order_id); end;
  create trigger if not exists order_changed after update on orders
    begin insert into effect values (new.id); end;`;
const OUTCOMES = `
  select subject, count(*) as runs, count(distinct worker) as workers, count(distinct key) as keys,
    (select count(*) from effect where effect.subject = run.subject) as effects
  from run group by subject`;
const BUSY_MS = 30_000;

/** Opens it, made if it is not there. Several processes may have it open. */
export function openShop(file: string): Shop {
  const db = new DatabaseSync(file, { timeout: BUSY_MS });
  db.exec('pragma journal_mode = wal; pragma synchronous = normal');
  db.exec(SCHEMA);
  const order = db.prepare(`insert into orders (id, state) values (?, 'paid')`);
  const run = db.prepare('insert into run values (?, ?, ?)');
  const outcomes = db.prepare(OUTCOMES);
  return {
    db,
    addOrder: (id) => void order.run(id),
    noteRun: (subject, worker, key) => void run.run(subject, worker, key),
    outcomes: () =>
      outcomes.all().map((row) => ({
        subject: String(row['subject']),
        runs: Number(row['runs']),
        effects: Number(row['effects']),
        workers: Number(row['workers']),
        keys: Number(row['keys']),
      })),
    [Symbol.dispose]: () => db.close(),
  };
}
