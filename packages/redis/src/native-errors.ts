import { type ErrorCode, SuretyError } from '@surety/core/errors';
import { NotConnected } from './link.ts';

/** By the first word of an error of the server. What is not here is INTERNAL. */
const BY_WORD: Readonly<Record<string, ErrorCode>> = Object.freeze({
  ASK: 'BACKEND_UNAVAILABLE',
  BUSY: 'BACKEND_OVERLOADED',
  CLUSTERDOWN: 'BACKEND_UNAVAILABLE',
  CROSSSLOT: 'STORE_UNSUITABLE',
  LOADING: 'BACKEND_UNAVAILABLE',
  MASTERDOWN: 'BACKEND_UNAVAILABLE',
  MISCONF: 'STORE_FULL',
  MOVED: 'STORE_UNSUITABLE',
  NOAUTH: 'PERMISSION_DENIED',
  NOPERM: 'PERMISSION_DENIED',
  NOREPLICAS: 'BACKEND_UNAVAILABLE',
  OOM: 'STORE_FULL',
  // A primary that was demoted: the next connection may lead to the new one.
  READONLY: 'BACKEND_UNAVAILABLE',
  TRYAGAIN: 'BACKEND_UNAVAILABLE',
  UNBLOCKED: 'BACKEND_UNAVAILABLE',
  WRONGPASS: 'PERMISSION_DENIED',
  WRONGTYPE: 'STORE_CORRUPT',
});

const REMEDIES: Readonly<Record<string, string>> = Object.freeze({
  CROSSSLOT: 'Give the client no "keyPrefix" with braces, so that the keys of a queue share one slot.',
  LOADING: 'Wait until the server has loaded its data.',
  MISCONF: 'Make the disk of the server writable again: it cannot persist what it is told.',
  MOVED: 'The server belongs to a cluster: name its nodes as an array, or give a client of the cluster.',
  OOM: 'Raise "maxmemory", or let workers catch up; they are served while producers are refused.',
  READONLY: 'Wait for the failover to end; if it stays, point the connection at the primary.',
  WRONGTYPE: 'Choose a prefix that no other program uses: a key under it is not ours.',
});

const NO_RIGHT =
  'Grant the user what `ACL LOG` on the server shows as refused; the guide lists what is needed.';
/** A right that only shows in the middle of a script: the server's word for it is that of any error there. */
const DENIED_IN_SCRIPT = /executing the script can't (?:run|access)|ACL failure in script/i;

/** How the client ends the message about an answer that it cannot decode. */
const UNREADABLE = /Please report this\.$/;
const NO_REDIS = 'Check host and port, and that rediss:// stands where the server wants TLS.';

const NETWORK = /^E(?:AI_AGAIN|CONN|HOST|NET|NOENT|NOTFOUND|PIPE|TIMEDOUT)/;

/** What ioredis rejects with, without a code, when a connection is gone or cannot be had. */
const CONNECTION_GONE =
  /connection is closed|stream isn't writeable|max retries per request|none of startup nodes|failed to refresh slots|cluster isn't ready|command aborted due to connection close|all sentinels are unreachable|connection is (?:aborted|discarded)/i;
const NOT_SENT = /stream isn't writeable|cluster isn't ready/i;

/** The first word of an error of the server, or null when the server did not answer. */
export function serverWord(native: unknown): string | null {
  if (!(native instanceof Error) || native.name !== 'ReplyError') return null;
  // An error inside of a script comes with the script's own words around it.
  const message = native.message.replace(/^ERR (?:Error running script[^:]*: )?(?:-)?(?=[A-Z]+ )/, '');
  return /^[A-Z]+(?= |$)/.exec(message)?.[0] ?? 'ERR';
}

/** The code for an error of the server, of the client or of the network. */
export function codeOf(native: unknown): ErrorCode {
  const word = serverWord(native);
  if (word !== null) {
    if (/max number of clients/i.test((native as Error).message)) return 'BACKEND_OVERLOADED';
    if (isDeniedInScript(native)) return 'PERMISSION_DENIED';
    return BY_WORD[word] ?? 'INTERNAL';
  }
  const code = (native as { readonly code?: unknown } | null)?.code;
  if (typeof code === 'string' && NETWORK.test(code)) return 'BACKEND_UNAVAILABLE';
  if (native instanceof NotConnected) return 'BACKEND_UNAVAILABLE';
  if (isNoRedis(native)) return 'BACKEND_UNAVAILABLE';
  if (native instanceof Error && CONNECTION_GONE.test(native.message)) return 'BACKEND_UNAVAILABLE';
  return 'INTERNAL';
}

/** What answers there speaks another protocol. */
function isNoRedis(native: unknown): boolean {
  return native instanceof Error && UNREADABLE.test(native.message);
}

/** The server does not know the script: nothing was executed, and its text has to be sent. */
export function isNoScript(native: unknown): boolean {
  return serverWord(native) === 'NOSCRIPT';
}

/** The client refused to send, since its connection had ended. Nothing was executed. */
export function wasRefusedByClient(native: unknown): boolean {
  return native instanceof Error && NOT_SENT.test(native.message);
}

/** The connection, or the server's part in the fleet, is not what it was: what comes next needs a new one. */
export function endsConnection(native: unknown): boolean {
  const word = serverWord(native);
  if (word === null) return true;
  return ['READONLY', 'MASTERDOWN', 'CLUSTERDOWN', 'UNBLOCKED', 'NOAUTH', 'MOVED', 'ASK'].includes(word);
}

/** The server may have done what it was told: it did not answer, or failed in the middle of a script. */
export function mayHaveActed(native: unknown): boolean {
  if (native instanceof NotConnected || wasRefusedByClient(native)) return false;
  const word = serverWord(native);
  return word === null || word === 'ERR' || word === 'WRONGTYPE' || isDeniedInScript(native);
}

/** The error as it crosses the contract. The server's own words stay in the cause. */
export function fromNative(native: unknown, operation: string): SuretyError {
  const remedy = remedyOf(native);
  const details = { adapter: 'redis', operation, cause: native };
  return new SuretyError(codeOf(native), whatOf(native), remedy === null ? details : { ...details, remedy });
}

function whatOf(native: unknown): string {
  const word = serverWord(native);
  if (word !== null)
    return isDenied(native) ? deniedWhat((native as Error).message) : `Redis answered with error ${word}.`;
  if (isNoRedis(native)) return 'What answers there does not speak the protocol of Redis.';
  return codeOf(native) === 'INTERNAL'
    ? 'The command failed.'
    : `The connection to Redis failed${reasonOf(native)}.`;
}

function remedyOf(native: unknown): string | null {
  if (isNoRedis(native)) return NO_REDIS;
  if (isDenied(native)) return NO_RIGHT;
  return REMEDIES[serverWord(native) ?? ''] ?? null;
}

/** The user is known, and may not do this. */
function isDenied(native: unknown): boolean {
  return serverWord(native) === 'NOPERM' || isDeniedInScript(native);
}

function isDeniedInScript(native: unknown): boolean {
  return native instanceof Error && DENIED_IN_SCRIPT.test(native.message);
}

function deniedWhat(message: string): string {
  const command = /run the '([a-z][a-z|_-]{0,40})' command/i.exec(message)?.[1];
  if (command !== undefined)
    return `Redis gives its user no permission for the command ${command.toUpperCase()}.`;
  return `Redis gives its user no permission for ${/access/i.test(message) ? 'a key' : 'a command of a script'}.`;
}

/** The system's code (ECONNREFUSED, ENOTFOUND, ...): it tells a wrong port from a wrong name. */
function reasonOf(native: unknown): string {
  const code = (native as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' && /^E[A-Z_]{2,30}$/.test(code) ? `: ${code}` : '';
}
