import type { DatabaseSync } from 'node:sqlite';
import { SuretyError } from '@surety/core/errors';
import { migrations } from './generated/migrations.ts';
import { ADAPTER } from './native-errors.ts';

/** "srty": marks a file that this adapter made. */
export const APPLICATION_ID = 0x73727479;
const CURRENT = migrations.length;

/** What a file is, by its schema. */
type Owner = 'nobody' | 'surety' | 'somebody';

/**
 * Refuses a database of another program, unless it is to be shared. Reads only.
 * The version stands in a table of ours and not in `user_version`, since a shared file's belongs to the application.
 */
export function checkOwner(db: DatabaseSync, file: string, shared: boolean): void {
  const owner = ownerOf(db);
  if (owner === 'surety') return checkVersion(versionOf(db), file);
  if (owner === 'nobody' || shared) return;
  throw new SuretyError(
    'STORE_CORRUPT',
    `${file} is a database of another program, without Surety's tables.`,
    {
      adapter: ADAPTER,
      operation: 'open',
      remedy: 'Name another file, or set shared: true to keep jobs beside the tables that are there.',
    },
  );
}

/**
 * Brings the schema up to date. Of several processes one does it, under the write lock; the others find it done. Also
 * proves that the file can be written. May throw native errors, busy among them; then nothing was done.
 */
export function migrate(db: DatabaseSync, file: string, shared: boolean): void {
  db.exec('begin immediate');
  try {
    checkOwner(db, file, shared);
    const owner = ownerOf(db);
    if (owner === 'nobody') db.exec(`pragma application_id = ${APPLICATION_ID}`);
    const version = owner === 'surety' ? versionOf(db) : 0;
    for (const migration of migrations.slice(version)) {
      db.exec(migration.sql);
      db.exec(`update surety_store set version = ${migration.version}`);
    }
    db.exec('commit');
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

/** Ends a failed transaction. Some errors have ended it already, which is not one more error. */
export function rollBack(db: DatabaseSync): void {
  try {
    db.exec('rollback');
  } catch (error) {
    if (!(error instanceof Error && /no transaction is active/.test(error.message))) throw error;
  }
}

function ownerOf(db: DatabaseSync): Owner {
  const row = db
    .prepare("select count(*) as tables, coalesce(sum(name = 'surety_store'), 0) as ours from sqlite_schema")
    .get();
  if (row?.['ours'] !== 0) return 'surety';
  const id = db.prepare('pragma application_id').get()?.['application_id'];
  return row['tables'] === 0 && (id === 0 || id === APPLICATION_ID) ? 'nobody' : 'somebody';
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('select version from surety_store').get()?.['version']);
}

function checkVersion(version: number, file: string): void {
  if (version >= 1 && version <= CURRENT) return;
  const details = { adapter: ADAPTER, operation: 'open' };
  if (version > CURRENT) {
    throw new SuretyError(
      'SCHEMA_TOO_NEW',
      `${file} has schema ${version}; this version knows ${CURRENT}.`,
      details,
    );
  }
  throw new SuretyError('STORE_CORRUPT', `${file} states no valid schema version.`, details);
}
