import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { EnqueueOutcome, NewJob, Transactional } from '@surety/core/contract';
import { type ErrorCode, SuretyError } from '@surety/core/errors';
import type { SqliteCapabilities } from '../capabilities.ts';
import type { Connection } from '../connection.ts';
import { ADAPTER, mapNative } from '../native-errors.ts';
import { checkBatch, storeAll } from '../operations/enqueue.ts';
import { setCells } from '../row-cells.ts';
import { ENQUEUE_STATEMENTS, prepare, type Statements } from '../statement-set.ts';
import { writeWork } from '../transaction.ts';

/** `pragma synchronous` of a connection that syncs each commit. */
const SYNCHRONOUS_FULL = 2;

/**
 * Enqueue inside a transaction of the application (G1.4). `tx` is a `DatabaseSync` of `node:sqlite` that has this backend's
 * very file open and a transaction begun on it. The jobs are written through that connection, so they exist if and
 * when it commits. The write lock is held from this call to the commit: keep it short.
 */
export function transactional(connection: Connection, capabilities: SqliteCapabilities): Transactional {
  const prepared = new WeakMap<DatabaseSync, Statements>();
  return {
    // Async, so that refusals come as rejections like those of every other method.
    async enqueue(tx, jobs) {
      if (jobs.length === 0) return [];
      checkBatch(capabilities, jobs);
      const db = checkTransaction(tx, connection);
      try {
        const st = prepared.get(db) ?? prepareOn(db, connection);
        prepared.set(db, st);
        return storeWithin(db, st, connection, capabilities, jobs);
      } catch (error) {
        throw mapNative(error, 'enqueue', connection.options.file);
      }
    },
  };
}

/** A savepoint, so that a failure in the middle leaves no half of a job to a transaction that goes on. */
function storeWithin(
  db: DatabaseSync,
  st: Statements,
  connection: Connection,
  capabilities: SqliteCapabilities,
  jobs: readonly NewJob[],
): EnqueueOutcome[] {
  db.exec('savepoint surety_enqueue');
  try {
    const work = writeWork(st, connection.clock, performance.now());
    const outcomes = storeAll(work, capabilities, jobs);
    work.finish();
    db.exec('release surety_enqueue');
    return outcomes;
  } catch (error) {
    undo(db);
    throw error;
  }
}

function undo(db: DatabaseSync): void {
  try {
    db.exec('rollback to surety_enqueue; release surety_enqueue');
  } catch (error) {
    // Some failures, a full disk among them, have ended the whole transaction, and the savepoint with it.
    if (!(error instanceof Error && /no such savepoint/.test(error.message))) throw error;
  }
}

function checkTransaction(tx: unknown, connection: Connection): DatabaseSync {
  const own = connection.identity('enqueue');
  if (!(tx instanceof DatabaseSync)) {
    throw refusal('OPTIONS_INVALID', 'The transaction is not a DatabaseSync of node:sqlite.');
  }
  // Not there before Node 22.16.
  if ((tx as Partial<DatabaseSync>).isTransaction === false) {
    throw refusal(
      'OPTIONS_INVALID',
      'No transaction is open on the connection.',
      "Begin one with 'begin immediate'.",
    );
  }
  const file = readPragma(tx, "select file as value from pragma_database_list where name = 'main'");
  const stats =
    typeof file !== 'string' || file === '' ? undefined : statSync(file, { throwIfNoEntry: false });
  if (stats === undefined || `${stats.dev}:${stats.ino}` !== own.key) {
    throw refusal('OPTIONS_INVALID', `The transaction is on another file than ${own.path}.`);
  }
  return tx;
}

function prepareOn(db: DatabaseSync, connection: Connection): Statements {
  const level = readPragma(db, 'select synchronous as value from pragma_synchronous');
  if (typeof level === 'number' && level >= SYNCHRONOUS_FULL) return prepare(db, ENQUEUE_STATEMENTS);
  throw refusal(
    'STORE_UNSUITABLE',
    `The application's connection to ${connection.options.file} does not sync its commits.`,
    'Set pragma synchronous = full on it.',
  );
}

/** One value, whatever form of rows the connection is set to. */
function readPragma(db: DatabaseSync, sql: string): unknown {
  const statement = db.prepare(sql);
  statement.setReadBigInts(false);
  setCells(statement, false);
  return statement.get()?.['value'];
}

function refusal(code: ErrorCode, what: string, remedy?: string): SuretyError {
  const details = { adapter: ADAPTER, operation: 'enqueue' };
  return new SuretyError(code, what, { ...details, ...(remedy !== undefined && { remedy }) });
}
