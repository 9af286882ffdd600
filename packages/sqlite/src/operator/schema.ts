import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { SuretyError } from '@surety/core/errors';
import type { SchemaState } from '@surety/core/operator';
import { migrations } from '../generated/migrations.ts';
import { APPLICATION_ID, checkOwner } from '../migrate.ts';
import { ADAPTER, mapNative } from '../native-errors.ts';

const NEWEST = migrations.length;
/** Reading waits only for the moment in which another process recovers or closes the file. */
const BUSY_MS = 1000;

/** Opens a file that is there, for a look. Closed afterwards. Throws errors of ours. */
export function lookInto<T>(file: string, operation: string, look: (db: DatabaseSync) => T): T {
  const stats = statSync(file, { throwIfNoEntry: false });
  // SQLite would make a new file of a wrong path.
  if (stats === undefined) throw absent(file, operation);
  if (!stats.isFile())
    throw new SuretyError('STORE_CORRUPT', `${file} is not a regular file.`, { adapter: ADAPTER, operation });
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(file, { timeout: BUSY_MS });
    return look(db);
  } catch (error) {
    throw mapNative(error, operation, file);
  } finally {
    db?.close();
  }
}

/** Where the schema of the file stands. A file that is not there has none. Throws for a file of another program. */
export function schemaOf(file: string): SchemaState {
  const version = statSync(file, { throwIfNoEntry: false }) === undefined ? 0 : versionIn(file);
  return { version, newest: NEWEST, script: scriptFrom(version) };
}

/** Throws unless the schema is the one that this version needs. */
export function requireSchema(file: string): void {
  const version = versionIn(file);
  if (version === NEWEST) return;
  const details = { adapter: ADAPTER, operation: 'open' };
  if (version === 0) throw new SuretyError('SCHEMA_MISSING', `${file} holds no Surety tables.`, details);
  const what = `${file} has schema ${version}; this version needs ${NEWEST}.`;
  throw new SuretyError('SCHEMA_TOO_OLD', what, details);
}

/** 0: an empty file. */
export function readVersion(db: DatabaseSync, file: string): number {
  checkOwner(db, file, false);
  const ours = db.prepare("select count(*) as tables from sqlite_schema where name = 'surety_store'").get();
  return ours?.['tables'] === 0
    ? 0
    : Number(db.prepare('select version from surety_store').get()?.['version']);
}

function versionIn(file: string): number {
  return lookInto(file, 'open', (db) => readVersion(db, file));
}

function scriptFrom(version: number): string {
  if (version >= NEWEST) return '';
  const steps = migrations
    .slice(version)
    .map(({ version: next, sql }) => `${sql}\nupdate surety_store set version = ${next};`);
  const mark = version === 0 ? [`pragma application_id = ${APPLICATION_ID};`] : [];
  return ['begin immediate;', ...mark, ...steps, 'commit;'].join('\n');
}

function absent(file: string, operation: string): SuretyError {
  return new SuretyError('BACKEND_UNAVAILABLE', `${file} does not exist.`, {
    adapter: ADAPTER,
    operation,
    remedy: 'Correct the path, or make the file with `surety migrate`.',
  });
}
