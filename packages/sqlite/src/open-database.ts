import { accessSync, constants, realpathSync, type Stats, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type ErrorCode, SuretyError } from '@surety/core/errors';
import { ADAPTER } from './native-errors.ts';
import type { ResolvedOptions } from './options.ts';

/**
 * Network file systems, by the type that Linux gives them. A write-ahead log needs memory shared by all who have the file
 * open; these file systems do not share it between hosts, and some lose locks. Those of which only some set-ups are
 * broken (FUSE, 9p) are not here: where shared memory fails outright, SQLite fails at open.
 */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
]);

/** Pages in the log after which a commit copies them into the database: 4 MiB, a few milliseconds of work. */
const CHECKPOINT_PAGES = 1000;
/** What a log that once grew beyond this (a reader of another program stood in the way) is cut back to. */
const LOG_LIMIT_BYTES = 16 * 1024 * 1024;

/** Which file a path leads to. */
export interface FileIdentity {
  readonly path: string;
  readonly key: string;
}

/** Refuses what cannot become a store, with a reason that SQLite's own errors do not give. */
export function checkPlace(file: string): void {
  const folder = dirname(file);
  const place = statOrNull(folder);
  if (place === null) {
    throw refusal(
      'BACKEND_UNAVAILABLE',
      `The folder ${folder} does not exist.`,
      'Create it, or correct the path.',
    );
  }
  if (!place.isDirectory())
    throw refusal('BACKEND_UNAVAILABLE', `${folder} is not a folder.`, 'Correct the path.');
  checkFileSystem(folder);
  const present = statOrNull(file);
  if (present !== null && !present.isFile()) {
    throw refusal('STORE_CORRUPT', `${file} is not a regular file.`, 'Name a file.');
  }
  checkWritable(folder, `The folder ${folder}`);
  if (present !== null) checkWritable(file, `The file ${file}`);
}

/** Opens a connection with the settings that the promise needs. Synchronous; may throw native errors, `isBusy` among them. */
export function openDatabase(options: ResolvedOptions): DatabaseSync {
  const db = new DatabaseSync(options.file);
  try {
    db.exec(`pragma busy_timeout = ${options.busyMs}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Turns on the log and fsync. After `checkOwner`, since it changes the file. */
export function configure(db: DatabaseSync, file: string): void {
  const mode = db.prepare('pragma journal_mode = wal').get()?.['journal_mode'];
  if (mode !== 'wal') {
    throw refusal(
      'STORE_UNSUITABLE',
      `SQLite cannot keep a write-ahead log beside ${file}; it answers '${String(mode)}'.`,
      'Put the file on a local disk.',
    );
  }
  db.exec(`pragma synchronous = full; pragma wal_autocheckpoint = ${CHECKPOINT_PAGES};
    pragma journal_size_limit = ${LOG_LIMIT_BYTES}; pragma temp_store = memory`);
}

/** Device and number of the file: the same for every path that leads to it. Null: it is not there. */
export function identify(file: string): FileIdentity | null {
  const stats = statOrNull(file);
  return stats === null ? null : { path: realpathSync(file), key: `${stats.dev}:${stats.ino}` };
}

function checkFileSystem(folder: string): void {
  // Elsewhere the number means something else, or nothing.
  if (process.platform !== 'linux') return;
  const name = NETWORK_FILE_SYSTEMS.get(statfsSync(folder).type >>> 0);
  if (name === undefined) return;
  throw refusal(
    'STORE_UNSUITABLE',
    `${folder} is on a network file system (${name}), which SQLite's log cannot use safely.`,
    'Put the file on a local disk, or use a backend with a server.',
  );
}

function checkWritable(path: string, what: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (cause) {
    const remedy = 'Give the process the right to read and write the file and its folder.';
    throw new SuretyError('STORE_READ_ONLY', `${what} cannot be written.`, { ...context, cause, remedy });
  }
}

function statOrNull(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

const context = { adapter: ADAPTER, operation: 'open' } as const;

function refusal(code: ErrorCode, what: string, remedy: string): SuretyError {
  return new SuretyError(code, what, { ...context, remedy });
}
