import { type ErrorCode, isSuretyError, SuretyError } from '@surety/core/errors';
import { ADAPTER } from './call.ts';
import { handshakeErrorOf } from './handshake-errors.ts';

/** By the reply code of AMQP, of a channel or a connection. */
const BY_REPLY: Readonly<Record<number, ErrorCode>> = Object.freeze({
  311: 'PAYLOAD_TOO_LARGE',
  320: 'BACKEND_UNAVAILABLE',
  402: 'OPTIONS_INVALID',
  403: 'PERMISSION_DENIED',
  404: 'SCHEMA_MISSING',
  405: 'BACKEND_OVERLOADED',
  406: 'STORE_UNSUITABLE',
  501: 'BACKEND_UNAVAILABLE',
  504: 'BACKEND_UNAVAILABLE',
  505: 'BACKEND_UNAVAILABLE',
  506: 'BACKEND_OVERLOADED',
  530: 'PERMISSION_DENIED',
  540: 'STORE_UNSUITABLE',
  // Also what a queue answers whose leader is not elected yet.
  541: 'BACKEND_UNAVAILABLE',
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

/** What amqplib throws without a code when a connection or channel is gone or cannot be had. */
const GONE =
  /channel (?:closed|closing|ended)|connection (?:closed|closing)|socket closed|unexpected close|etimedout|heartbeat|no channels left|blocked/i;

/** The reply code of an answer of the broker, or null when it is none. */
export function replyCode(native: unknown): number | null {
  if (typeof native !== 'object' || native === null) return null;
  const { code } = native as { readonly code?: unknown };
  if (typeof code === 'number') return code;
  // During the handshake the code stands in the text alone.
  const said = /^Handshake terminated by server: (\d{3})/.exec(messageIn(native))?.[1];
  return said === undefined ? null : Number(said);
}

function codeOf(native: unknown): ErrorCode {
  const reply = replyCode(native);
  if (reply !== null) return BY_REPLY[reply] ?? 'INTERNAL';
  const code = (native as { readonly code?: unknown } | null)?.code;
  if (typeof code === 'string' && NETWORK.has(code)) return 'BACKEND_UNAVAILABLE';
  if (native instanceof AggregateError) return codeOf(native.errors[0]);
  const handshake = handshakeErrorOf(native);
  if (handshake !== null) return handshake.code;
  return GONE.test(messageIn(native)) ? 'BACKEND_UNAVAILABLE' : 'INTERNAL';
}

/** The error as it crosses the contract. The broker's own words stay in the cause, but for what it refuses to declare. */
export function fromNative(native: unknown, operation: string, jobId: string | null = null): SuretyError {
  if (isSuretyError(native)) return native;
  const code = codeOf(native);
  const details = { adapter: ADAPTER, operation, jobId, cause: native };
  const reply = replyCode(native);
  const declared = /inequivalent arg '([^']*)' for (queue|exchange) '([^']*)'/.exec(messageIn(native));
  if (declared !== null) {
    const [, argument, kind, name] = declared;
    return new SuretyError(
      'STORE_UNSUITABLE',
      `The ${kind} "${name}" was declared otherwise: its ${argument} differs.`,
      {
        ...details,
        remedy: `Delete the ${kind} when it is empty, or choose another prefix; Surety never changes or deletes what is there.`,
      },
    );
  }
  const handshake = handshakeErrorOf(native);
  if (handshake !== null)
    return new SuretyError(code, handshake.what, { ...details, remedy: handshake.remedy });
  if (reply !== null)
    return new SuretyError(code, `RabbitMQ answered with ${reply}${wordOf(native)}.`, details);
  return new SuretyError(
    code,
    code === 'INTERNAL' ? 'The call failed.' : `The connection to RabbitMQ failed${systemCode(native)}.`,
    details,
  );
}

function messageIn(native: unknown): string {
  return native instanceof Error ? native.message : '';
}

/** The constant's name, as in ` (ACCESS-REFUSED)`. */
function wordOf(native: unknown): string {
  const word = /\d{3} \(([A-Z-]+)\)/.exec(messageIn(native))?.[1];
  return word === undefined ? '' : ` (${word})`;
}

/** The system's code (ECONNREFUSED, ENOTFOUND, ...): it tells a wrong port from a wrong name. */
function systemCode(native: unknown): string {
  const code = (native as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' && /^E[A-Z_]{2,30}$/.test(code) ? `: ${code}` : '';
}

/** Tries of a step that changes nothing, or the same once more. */
const TRIES = 3;

/** Repeats a step whose connection was lost under it: it is made again by itself, and the step may be done twice. */
export async function overLostConnections<T>(step: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await step();
    } catch (native) {
      // An error of ours says that there is no connection, or no time.
      if (isSuretyError(native) || codeOf(native) !== 'BACKEND_UNAVAILABLE' || tries >= TRIES) throw native;
    }
  }
}
