import { type HistoryEntry, JOB_ID, JOB_TYPE, type Lease, type NewJob } from '@surety/core/contract';
import type { Message } from 'amqplib';
import { type Envelope, newEnvelope } from './envelope.ts';
import { newNonce } from './wire/new-nonce.ts';
import type { MessageOptions } from './wire/publisher.ts';

const VERSION = 1;
/** Between the envelope and the payload. JSON has no line feed in a text, and nothing else is written with one. */
const BORDER = ',\n';
const END = ']';
const NOTHING_MORE = 0;

/** What every message begins with: version, id, type, when it was enqueued, and what differs from the usual. */
type Head = readonly [number, string, string, number, More | typeof NOTHING_MORE];

interface More {
  readonly due?: number;
  readonly key?: string;
  readonly max?: number;
  readonly exp?: number;
  readonly att?: number;
  readonly del?: number;
  readonly lost?: number;
  readonly back?: true;
  readonly int?: number;
  readonly red?: number;
  readonly unk?: number;
  readonly dead?: number;
  readonly h?: Readonly<Record<string, string>>;
  readonly e?: readonly HistoryEntry[];
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A message that can be published: properties with a new nonce, and the body. */
export interface Encoded {
  readonly options: MessageOptions;
  readonly body: Buffer | string;
}

interface Broken {
  readonly broken: string;
}

/** A message that was read, with the payload as it was written. `broken`: it is none of ours, or damaged. */
export type Decoded = { readonly envelope: Envelope; readonly payload: Buffer } | Broken;

/** The same, with the payload as a handler gets it. */
export type Opened = { readonly envelope: Envelope; readonly payload: Lease['payload'] } | Broken;

/**
 * The body is one array: the envelope's parts, a line feed, the payload. So a claim reads both with one `JSON.parse`, and a move takes the payload as it is.
 * In a header the envelope would cost the broker more, which looks into every header that it is sent, and all headers together must stay below 64 KiB.
 */
export function encode(envelope: Envelope, payload: string | Buffer): Encoded {
  const head = headOf(envelope, envelope.enqueuedAt, moreOf(envelope));
  const body =
    typeof payload === 'string'
      ? head + payload + END
      : Buffer.concat([Buffer.from(head), payload, Buffer.from(END)]);
  return { options: { messageId: newNonce() }, body };
}

/** The same of a job that is being enqueued. Most differ in nothing from the usual, and no envelope is made of these. */
export function encodeNew(job: NewJob, now: number): Encoded {
  const isUsual =
    job.delayMs <= 0 &&
    job.expiresInMs === null &&
    job.maxAttempts === null &&
    job.idempotencyKey === job.id &&
    !hasAny(job.headers);
  if (!isUsual) return encode(newEnvelope(job, now), job.payload);
  return { options: { messageId: newNonce() }, body: headOf(job, now, null) + job.payload + END };
}

function headOf(
  { id, type }: { readonly id: string; readonly type: string },
  at: number,
  more: More | null,
): string {
  // Neither an id nor a type has a character that JSON would escape.
  return `[${VERSION},"${id}","${type}",${at},${more === null ? NOTHING_MORE : JSON.stringify(more)}${BORDER}`;
}

/** Null: nothing differs from the usual. */
function moreOf(envelope: Envelope): More | null {
  // One by one, since most are left out of most messages.
  const more: Writable<More> = {};
  if (envelope.dueAt !== envelope.enqueuedAt) more.due = envelope.dueAt;
  if (envelope.idempotencyKey !== envelope.id) more.key = envelope.idempotencyKey;
  if (envelope.maxAttempts !== null) more.max = envelope.maxAttempts;
  if (envelope.expiresAt !== null) more.exp = envelope.expiresAt;
  if (envelope.attempt > 0) more.att = envelope.attempt;
  if (envelope.deliveries > 0) more.del = envelope.deliveries;
  if (envelope.lostClaims > 0) more.lost = envelope.lostClaims;
  if (envelope.lossBackedOff) more.back = true;
  if (envelope.interruptions > 0) more.int = envelope.interruptions;
  if (envelope.redrives > 0) more.red = envelope.redrives;
  if (envelope.unknownTypeSince !== null) more.unk = envelope.unknownTypeSince;
  if (envelope.deadAt !== null) more.dead = envelope.deadAt;
  if (hasAny(envelope.headers)) more.h = envelope.headers;
  if (envelope.history.length > 0) more.e = envelope.history;
  return hasAny(more) ? more : null;
}

function hasAny(fields: object): boolean {
  for (const _ in fields) return true;
  return false;
}

export function open(message: Message): Opened {
  try {
    const all = JSON.parse(message.content.toString('utf8')) as unknown;
    // More parts: the payload was written by somebody who left its brackets open.
    if (Array.isArray(all) && all.length === 6)
      return opened(all as unknown as Head, { value: (all as readonly unknown[])[5] });
  } catch {
    // Told below of which half it is.
  }
  const decoded = decode(message);
  if ('broken' in decoded) return decoded;
  try {
    return { envelope: decoded.envelope, payload: { value: JSON.parse(decoded.payload.toString('utf8')) } };
  } catch (error) {
    return { envelope: decoded.envelope, payload: { unreadable: wordsOf(error) } };
  }
}

export function decode({ content }: Pick<Message, 'content'>): Decoded {
  const border = content.indexOf(BORDER);
  if (border < 0) return { broken: 'The message has no envelope.' };
  let head: unknown;
  try {
    head = JSON.parse(content.toString('utf8', 0, border) + END);
  } catch (error) {
    return { broken: wordsOf(error) };
  }
  if (!Array.isArray(head) || head.length !== 5) return { broken: 'The message has no envelope.' };
  const checked = opened(head as unknown as Head, { value: null });
  if ('broken' in checked) return checked;
  return {
    envelope: checked.envelope,
    payload: content.subarray(border + BORDER.length, content.length - END.length),
  };
}

/** The payload as it was written, of a message that was opened. */
export function payloadIn(message: Pick<Message, 'content'>): Buffer {
  const decoded = decode(message);
  if (!('broken' in decoded)) return decoded.payload;
  // Somebody else wrote the same array in another way: what it says is all there is.
  const all = JSON.parse(message.content.toString('utf8')) as readonly unknown[];
  return Buffer.from(JSON.stringify(all[5]));
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** For what is told of a message. */
export function idOf(message: Message): string {
  const decoded = decode(message);
  return 'broken' in decoded ? 'unreadable' : decoded.envelope.id;
}

function opened(head: Head, payload: Lease['payload']): Opened {
  const [version, id, type, enqueuedAt, rest] = head;
  if (version !== VERSION) return { broken: `The envelope is of version ${String(version)}.` };
  if (typeof id !== 'string' || !JOB_ID.test(id) || typeof type !== 'string' || !JOB_TYPE.test(type))
    return { broken: 'The envelope has no id or no type.' };
  if (!Number.isFinite(enqueuedAt)) return { broken: 'The envelope does not say when it was enqueued.' };
  return {
    envelope: read(id, type, enqueuedAt, typeof rest === 'object' ? (rest ?? USUAL) : USUAL),
    payload,
  };
}

const USUAL: More = Object.freeze({});
const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});
const NO_HISTORY: readonly HistoryEntry[] = Object.freeze([]);

function read(id: string, type: string, enqueuedAt: number, more: More): Envelope {
  return {
    id,
    type,
    idempotencyKey: more.key ?? id,
    headers: more.h ?? NO_HEADERS,
    maxAttempts: more.max ?? null,
    enqueuedAt,
    dueAt: more.due ?? enqueuedAt,
    expiresAt: more.exp ?? null,
    attempt: more.att ?? 0,
    deliveries: more.del ?? 0,
    lostClaims: more.lost ?? 0,
    lossBackedOff: more.back ?? false,
    interruptions: more.int ?? 0,
    redrives: more.red ?? 0,
    unknownTypeSince: more.unk ?? null,
    history: more.e ?? NO_HISTORY,
    deadAt: more.dead ?? null,
  };
}
