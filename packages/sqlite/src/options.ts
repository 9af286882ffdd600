import { resolve } from 'node:path';
import { SuretyError } from '@surety/core/errors';
import { ADAPTER } from './native-errors.ts';

/** Options of `sqlite`. Durations in milliseconds. */
export interface SqliteOptions {
  /** Path of the file. Made by `open` where it is not there; its folder must be. Not `:memory:`. */
  readonly file: string;
  /**
   * How long the record of a completed or cancelled job stays to be found by id; 0 (default): the job is gone. The
   * record does not keep its id from being enqueued again.
   */
  readonly keepCompletedMs?: number;
  /**
   * How long one try for the write lock may hold up the event loop, 0 to 50; 5 when left out. Further tries follow, without
   * holding it up, until the time limit of the call.
   */
  readonly busyMs?: number;
  /** The longest time after which a waiting claim sees what another process stored, 1 to 1000; 25 when left out. */
  readonly pollMs?: number;
  /**
   * True: `open` may add its tables to a database of the application. False (default): only to a new file, so
   * that a wrong path changes nobody's data. Tables of the application may be added later in either case.
   */
  readonly shared?: boolean;
}

/** {@link SqliteOptions}, checked and complete. */
export interface ResolvedOptions {
  readonly file: string;
  readonly keepCompletedMs: number;
  readonly busyMs: number;
  readonly pollMs: number;
  readonly shared: boolean;
}

const NAMES: ReadonlySet<string> = new Set(['file', 'keepCompletedMs', 'busyMs', 'pollMs', 'shared']);
const YEAR_MS = 366 * 24 * 60 * 60 * 1000;

/** Throws OPTIONS_INVALID for what is unknown or out of range. */
export function resolveOptions(pathOrOptions: string | SqliteOptions): ResolvedOptions {
  const options = typeof pathOrOptions === 'string' ? { file: pathOrOptions } : pathOrOptions;
  if (typeof options !== 'object' || options === null) throw invalid('sqlite() takes a path or options.');
  for (const name of Object.keys(options)) {
    if (!NAMES.has(name)) throw invalid(`sqlite() has no option '${name}'.`);
  }
  const shared = options.shared ?? false;
  if (typeof shared !== 'boolean') throw invalid('The option shared must be true or false.');
  return Object.freeze({
    file: checkFile(options.file),
    keepCompletedMs: checkMs('keepCompletedMs', options.keepCompletedMs ?? 0, 0, YEAR_MS),
    busyMs: checkMs('busyMs', options.busyMs ?? 5, 0, 50),
    pollMs: checkMs('pollMs', options.pollMs ?? 25, 1, 1000),
    shared,
  });
}

function checkFile(file: unknown): string {
  if (typeof file !== 'string' || file.trim() === '' || file.includes('\0')) {
    throw invalid('The option file must be the path of a file.');
  }
  if (file === ':memory:' || file.startsWith('file:')) {
    throw invalid(
      `sqlite() keeps jobs in a file; '${file}' is none.`,
      "Name a file, or use memory() of '@surety/memory' for jobs that need not last.",
    );
  }
  return resolve(file);
}

function checkMs(name: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalid(`The option ${name} must be a whole number of milliseconds from ${min} to ${max}.`);
}

function invalid(what: string, remedy?: string): SuretyError {
  return new SuretyError('OPTIONS_INVALID', what, {
    adapter: ADAPTER,
    ...(remedy !== undefined && { remedy }),
  });
}
