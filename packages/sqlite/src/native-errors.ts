import { type ErrorCode, isSuretyError, SuretyError } from '@surety/core/errors';

/** The name in errors and reports. */
export const ADAPTER = 'sqlite';

/** Primary result codes of SQLite; the lowest byte of `errcode`. */
const BUSY = 5;
const LOCKED = 6;
const CANTOPEN = 14;
const IOERR = 10;

interface Meaning {
  readonly code: ErrorCode;
  readonly what: string;
  readonly remedy?: string;
}

const MEANINGS: ReadonlyMap<number, Meaning> = new Map<number, Meaning>([
  [3, { code: 'PERMISSION_DENIED', what: 'The system denied access to the file.' }],
  [BUSY, { code: 'BACKEND_OVERLOADED', what: 'The write lock of the file was not to be had in time.' }],
  [LOCKED, { code: 'BACKEND_OVERLOADED', what: 'A table of the file is locked by this process itself.' }],
  [7, { code: 'BACKEND_OVERLOADED', what: 'SQLite ran out of memory.' }],
  [8, { code: 'STORE_READ_ONLY', what: 'The file, or its folder, cannot be written.' }],
  [
    IOERR,
    {
      code: 'BACKEND_UNAVAILABLE',
      what: 'Reading or writing the file failed.',
      remedy: "Look at the disk and the system's log; then try again.",
    },
  ],
  [11, { code: 'STORE_CORRUPT', what: 'The file is damaged.' }],
  [13, { code: 'STORE_FULL', what: 'The disk is full, or the file has reached its size limit.' }],
  [
    CANTOPEN,
    {
      code: 'BACKEND_UNAVAILABLE',
      what: 'The file, or one of the two that SQLite keeps beside it, cannot be opened.',
      remedy: 'Check that the path is a file, that its folder exists and that the process may write there.',
    },
  ],
  [18, { code: 'PAYLOAD_TOO_LARGE', what: 'A value is larger than SQLite can hold.' }],
  [22, { code: 'STORE_UNSUITABLE', what: 'The file system lacks what SQLite needs for large files.' }],
  [26, { code: 'STORE_CORRUPT', what: 'The file is not a SQLite database.' }],
]);

/** Extended codes that mean something else than their primary one. */
const EXTENDED: ReadonlyMap<number, Meaning> = new Map<number, Meaning>([
  [10 | (12 << 8), { code: 'BACKEND_OVERLOADED', what: 'SQLite ran out of memory.' }],
  [10 | (33 << 8), { code: 'STORE_CORRUPT', what: 'The file system reports that the file is damaged.' }],
]);

/** Result code of a native error; null for errors of other origin. */
function resultCode(error: unknown): number | null {
  const code = (error as { readonly errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code : null;
}

/** Whether trying again soon can help: somebody else holds the lock. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code !== null && ((code & 0xff) === BUSY || (code & 0xff) === LOCKED);
}

/** Whether the connection should be made anew: what it has cached of the file may be wrong. */
export function breaksConnection(error: unknown): boolean {
  const code = resultCode(error);
  if (code === null) return false;
  return [IOERR, 11, CANTOPEN, 26].includes(code & 0xff);
}

/** The error of ours for a native one. Errors of ours stay as they are. */
export function mapNative(error: unknown, operation: string, file: string): SuretyError {
  if (isSuretyError(error)) return error;
  const code = resultCode(error);
  const meaning = code === null ? undefined : (EXTENDED.get(code) ?? MEANINGS.get(code & 0xff));
  const details = { adapter: ADAPTER, operation, cause: error };
  if (meaning === undefined) {
    const text = error instanceof Error ? error.message : String(error);
    return new SuretyError('INTERNAL', `SQLite failed on ${file}: ${text}.`, details);
  }
  const { remedy } = meaning;
  return new SuretyError(meaning.code, `${meaning.what} (${file})`, {
    ...details,
    ...(remedy !== undefined && { remedy }),
  });
}

/**
 * A commit whose last write failed: the transaction may be in the file, or be found there after a crash. Running out of
 * room is not one of these: without its last frame a transaction does not exist.
 */
export function mapCommit(error: unknown, operation: string, file: string): SuretyError {
  const code = resultCode(error);
  if (code === null || (code & 0xff) !== IOERR) return mapNative(error, operation, file);
  return new SuretyError('OUTCOME_UNKNOWN', `The commit failed in the disk's hands. (${file})`, {
    adapter: ADAPTER,
    operation,
    cause: error,
  });
}
