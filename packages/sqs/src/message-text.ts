import type { HistoryEntry } from '@surety/core/contract';
import { type Envelope, isSound } from './envelope.ts';
import { barelyEscaped, escaped, legalJson, restored } from './legal-text.ts';

/**
 * The body of a message: the envelope as JSON in one line, a line feed, the payload as it was written. What has its usual value is left out. Times are
 * durations from the sending of this message, which the service itself notes: nobody's clock but its own is asked.
 */
interface Written {
  readonly v: number;
  readonly id: string;
  readonly type: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly max?: number;
  /** When the job was first sent, by the service's clock; left out in the first message. */
  readonly at?: number;
  /** From the sending of this message until the job is due. */
  readonly delay?: number;
  /** From the first sending until the job expires. */
  readonly exp?: number;
  readonly att?: number;
  readonly del?: number;
  readonly lost?: number;
  readonly back?: true;
  readonly int?: number;
  readonly red?: number;
  /** For how long its type had been unknown when this message was sent. */
  readonly unk?: number;
  readonly errors?: readonly HistoryEntry[];
  readonly dead?: true;
  /** The payload has escapes. */
  readonly esc?: true;
}

const VERSION = 1;

/** A message that was read. `broken`: it is none of ours, or damaged. */
export type Decoded = { readonly envelope: Envelope; readonly payload: string } | { readonly broken: string };

/** How a message is to be written. */
export interface Writing {
  /** The time of the service, for what is counted from the sending. */
  readonly now: number;
  /** Until the job is due. */
  readonly delayMs: number;
  readonly maxBytes: number;
}

/** The body, or null when it does not fit. Errors of the history are shortened before a move fails for its size. */
export function encode(envelope: Envelope, payload: string, writing: Writing): string | null {
  for (const history of shorter(envelope.history)) {
    const text = write({ ...envelope, history }, payload, writing);
    if (text !== null) return text;
  }
  return null;
}

function write(envelope: Envelope, payload: string, writing: Writing): string | null {
  const fits = (text: string): boolean => Buffer.byteLength(text) <= writing.maxBytes;
  const safe = escaped(payload);
  const text = joined(envelope, safe ?? payload, safe !== null, writing);
  if (fits(text)) return text;
  if (safe === null) return null;
  const bare = barelyEscaped(payload);
  const bareText = joined(envelope, bare ?? payload, bare !== null, writing);
  return fits(bareText) ? bareText : null;
}

function joined(envelope: Envelope, payload: string, hasEscapes: boolean, { now, delayMs }: Writing): string {
  const { id, type, idempotencyKey, headers, history } = envelope;
  const written: Written = {
    v: VERSION,
    id,
    type,
    ...(idempotencyKey !== id && { key: idempotencyKey }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(envelope.maxAttempts !== null && { max: envelope.maxAttempts }),
    ...(envelope.enqueuedAt !== null && { at: Math.round(envelope.enqueuedAt) }),
    ...(delayMs > 0 && { delay: Math.ceil(delayMs) }),
    ...(envelope.expiresInMs !== null && { exp: envelope.expiresInMs }),
    ...(envelope.attempt > 0 && { att: envelope.attempt }),
    ...(envelope.deliveries > 0 && { del: envelope.deliveries }),
    ...(envelope.lostClaims > 0 && { lost: envelope.lostClaims }),
    ...(envelope.lossBackedOff && { back: true }),
    ...(envelope.interruptions > 0 && { int: envelope.interruptions }),
    ...(envelope.redrives > 0 && { red: envelope.redrives }),
    ...(envelope.unknownTypeSince !== null && {
      unk: Math.max(0, Math.round(now - envelope.unknownTypeSince)),
    }),
    ...(history.length > 0 && { errors: history }),
    ...(envelope.isDead && { dead: true }),
    ...(hasEscapes && { esc: true }),
  };
  return `${legalJson(written)}\n${payload}`;
}

/** The whole history, then less and less of it; the last error is kept longest. */
function* shorter(history: readonly HistoryEntry[]): Generator<readonly HistoryEntry[]> {
  yield history;
  if (history.length === 0) return;
  yield history.map(withoutStack);
  if (history.length > 2)
    yield [history[0], history.at(-1)].flatMap((entry) => (entry ? [withoutStack(entry)] : []));
  yield history.slice(-1).map(withoutStack);
  yield history.slice(-1).map(({ at, error }) => ({ at, error: { ...error, message: '', stack: null } }));
}

function withoutStack({ at, error }: HistoryEntry): HistoryEntry {
  return { at, error: { ...error, stack: null } };
}

/** `sentAt`: when the service took this message. */
export function decode(body: string, sentAt: number): Decoded {
  const end = body.indexOf('\n');
  if (end < 0) return { broken: 'The message has no line with an envelope.' };
  try {
    const written = JSON.parse(body.slice(0, end)) as Written;
    if (written.v !== VERSION) return { broken: `The envelope is of version ${String(written.v)}.` };
    if (!isSound(written)) return { broken: 'The envelope has no id or no type.' };
    const rest = body.slice(end + 1);
    return { envelope: read(written, sentAt), payload: written.esc === true ? restored(rest) : rest };
  } catch (error) {
    return { broken: error instanceof Error ? error.message : String(error) };
  }
}

function read(written: Written, sentAt: number): Envelope {
  return {
    id: written.id,
    type: written.type,
    idempotencyKey: written.key ?? written.id,
    headers: written.headers ?? {},
    maxAttempts: written.max ?? null,
    enqueuedAt: written.at ?? sentAt,
    dueAt: sentAt + (written.delay ?? 0),
    expiresInMs: written.exp ?? null,
    attempt: written.att ?? 0,
    deliveries: written.del ?? 0,
    lostClaims: written.lost ?? 0,
    lossBackedOff: written.back ?? false,
    interruptions: written.int ?? 0,
    redrives: written.red ?? 0,
    unknownTypeSince: written.unk === undefined ? null : sentAt - written.unk,
    history: written.errors ?? [],
    isDead: written.dead ?? false,
  };
}
