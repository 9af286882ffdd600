import { type ErrorCode, SuretyError } from '@surety/core/errors';

/** Five letters first, then the class of two. What is not here is INTERNAL. */
const BY_STATE: Readonly<Record<string, ErrorCode>> = Object.freeze({
  '08': 'BACKEND_UNAVAILABLE',
  '22': 'PAYLOAD_NOT_SUPPORTED',
  // A payload that is more than one JSON value: a row of the batch is left without an id.
  '23502': 'PAYLOAD_NOT_SUPPORTED',
  '25006': 'STORE_READ_ONLY',
  '28': 'PERMISSION_DENIED',
  '3D000': 'OPTIONS_INVALID',
  '3F000': 'SCHEMA_MISSING',
  '40': 'BACKEND_OVERLOADED',
  '42P01': 'SCHEMA_MISSING',
  '42501': 'PERMISSION_DENIED',
  '42703': 'SCHEMA_TOO_OLD',
  '53': 'BACKEND_OVERLOADED',
  '53100': 'STORE_FULL',
  // Input too complex (54001: JSON nested too deep), or larger than the server can hold.
  '54': 'PAYLOAD_NOT_SUPPORTED',
  '54000': 'PAYLOAD_TOO_LARGE',
  '55P03': 'BACKEND_OVERLOADED',
  '57014': 'BACKEND_TIMEOUT',
  '57': 'BACKEND_UNAVAILABLE',
  '58': 'BACKEND_UNAVAILABLE',
  XX001: 'STORE_CORRUPT',
  XX002: 'STORE_CORRUPT',
});

const NETWORK: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** What pg throws without a code when a connection is gone or cannot be had. */
const CONNECTION_GONE =
  /connection (?:terminated|error|timeout)|not queryable|ended the connection|trying to connect/i;

/** The SQLSTATE of an answer of the server, or null when the server did not answer. */
export function sqlState(native: unknown): string | null {
  const code = property(native, 'code');
  return code !== null && /^[0-9A-Z]{5}$/.test(code) && property(native, 'severity') !== null ? code : null;
}

/** The code for an error of pg, of the server or of the network. */
export function codeOf(native: unknown): ErrorCode {
  const state = sqlState(native);
  if (state !== null) return BY_STATE[state] ?? BY_STATE[state.slice(0, 2)] ?? 'INTERNAL';
  const code = property(native, 'code');
  if (code !== null && NETWORK.has(code)) return 'BACKEND_UNAVAILABLE';
  const message = native instanceof Error ? native.message : '';
  if (CONNECTION_GONE.test(message)) return 'BACKEND_UNAVAILABLE';
  if (native instanceof AggregateError) return codeOf(native.errors[0]);
  return 'INTERNAL';
}

/** A statement that was rolled back as a whole and may be sent again unchanged: deadlock, serialization failure. */
export function isRolledBack(native: unknown): boolean {
  const state = sqlState(native);
  return state === '40P01' || state === '40001';
}

/** The server ended the session while it worked: it may have committed before it said so. */
export function mayHaveCommitted(native: unknown): boolean {
  if (wasNotSent(native)) return false;
  const state = sqlState(native);
  return (
    state === null || state.startsWith('08') || state === '57P01' || state === '57P02' || state === '40003'
  );
}

/** The server answered and goes on serving the session. */
export function keepsSession(native: unknown): boolean {
  return sqlState(native) !== null && property(native, 'severity') === 'ERROR' && !isReadOnly(native);
}

/** The session leads to a server that takes no writes, such as a primary that was demoted. Another may lead elsewhere. */
export function isReadOnly(native: unknown): boolean {
  return sqlState(native) === '25006';
}

/** pg refused to send: the connection had ended before. Nothing was executed. */
export function wasNotSent(native: unknown): boolean {
  return native instanceof Error && /not queryable/.test(native.message);
}

/** Errors of the data itself: the item that caused it is at fault, not the store. */
export function isDataError(native: unknown): boolean {
  const state = sqlState(native);
  return state !== null && (state.startsWith('22') || state === '23502' || state.startsWith('54'));
}

/** The error as it crosses the contract. The server's own words stay in the cause. */
export function fromNative(native: unknown, operation: string, jobId: string | null = null): SuretyError {
  const code = codeOf(native);
  const state = sqlState(native);
  const what =
    state === null
      ? `The connection to PostgreSQL failed${reasonOf(native)}.`
      : `PostgreSQL answered with error ${state}.`;
  return new SuretyError(code, code === 'INTERNAL' && state === null ? 'The statement failed.' : what, {
    adapter: 'postgres',
    operation,
    jobId,
    cause: native,
  });
}

function property(value: unknown, name: string): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const found = (value as Record<string, unknown>)[name];
  return typeof found === 'string' ? found : null;
}

/** The system's code (ECONNREFUSED, ENOTFOUND, ...): it tells a wrong port from a wrong name. Never the server's own words. */
function reasonOf(native: unknown): string {
  const code = (native as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^E[A-Z_]{2,30}$/.test(code) ? `: ${code}` : '';
}
