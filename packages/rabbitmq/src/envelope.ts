import { randomUUID } from 'node:crypto';
import {
  type HistoryEntry,
  JOB_ID,
  JOB_TYPE,
  type JobError,
  MAX_HISTORY,
  type NewJob,
  RELEASE_REASONS,
  type ReleaseReason,
} from '@surety/core/contract';
import type { Message } from 'amqplib';
import type { MessageOptions } from './wire/publisher.ts';

/** All that is known of a job beside its payload. Instants are ms since the epoch by the clock of whoever wrote them. */
export interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly idempotencyKey: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxAttempts: number | null;
  readonly enqueuedAt: number;
  /** Since when it is ready. */
  readonly dueAt: number;
  readonly expiresAt: number | null;
  /** Charged before this copy was made. */
  readonly attempt: number;
  readonly deliveries: number;
  readonly lostClaims: number;
  readonly lossBackedOff: boolean;
  readonly interruptions: number;
  readonly redrives: number;
  readonly unknownTypeSince: number | null;
  readonly history: readonly HistoryEntry[];
  readonly deadAt: number | null;
}

/** The AMQP header that holds the envelope, as JSON. Nothing that the broker adds is ever sent back to it. */
const HEADER = 'surety';
const VERSION = 1;
/**
 * The application's headers and the history of errors stand in the header up to this size, above it in front of the body: all headers together
 * must stay below 64 KiB, and the broker keeps them in memory.
 */
const INLINE_BYTES = 8 * 1024;

/** As it is written; what has its usual value is left out. */
interface Written {
  readonly v: number;
  readonly id: string;
  readonly at: number;
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
  readonly extra?: Extra;
  /** Bytes of the body that hold `extra`, in front of the payload. */
  readonly front?: number;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

interface Extra {
  readonly h?: Readonly<Record<string, string>>;
  readonly e?: readonly HistoryEntry[];
}

/** A message that can be published: properties with a new nonce, and the body. */
export interface Encoded {
  readonly options: MessageOptions;
  readonly body: Buffer;
}

/** A message that was read. `broken`: it is none of ours, or damaged. */
export type Decoded = { readonly envelope: Envelope; readonly payload: Buffer } | { readonly broken: string };

export function newEnvelope(job: NewJob, now: number): Envelope {
  return {
    id: job.id,
    type: job.type,
    idempotencyKey: job.idempotencyKey,
    headers: job.headers,
    maxAttempts: job.maxAttempts,
    enqueuedAt: now,
    dueAt: now + Math.max(0, job.delayMs),
    expiresAt: job.expiresInMs === null ? null : now + job.expiresInMs,
    attempt: 0,
    deliveries: 0,
    lostClaims: 0,
    lossBackedOff: false,
    interruptions: 0,
    redrives: 0,
    unknownTypeSince: null,
    history: [],
    deadAt: null,
  };
}

export function encode(envelope: Envelope, payload: Buffer): Encoded {
  const { id, headers, history } = envelope;
  const hasHeaders = Object.keys(headers).length > 0;
  const extra: Extra = { ...(hasHeaders && { h: headers }), ...(history.length > 0 && { e: history }) };
  const hasExtra = hasHeaders || history.length > 0;
  const text = hasExtra ? JSON.stringify(extra) : '';
  const front = text.length > INLINE_BYTES ? Buffer.from(text) : null;
  // One by one, since most are left out of most messages.
  const written: Writable<Written> = { v: VERSION, id, at: envelope.enqueuedAt };
  if (envelope.dueAt !== envelope.enqueuedAt) written.due = envelope.dueAt;
  if (envelope.idempotencyKey !== id) written.key = envelope.idempotencyKey;
  if (envelope.maxAttempts !== null) written.max = envelope.maxAttempts;
  if (envelope.expiresAt !== null) written.exp = envelope.expiresAt;
  if (envelope.attempt > 0) written.att = envelope.attempt;
  if (envelope.deliveries > 0) written.del = envelope.deliveries;
  if (envelope.lostClaims > 0) written.lost = envelope.lostClaims;
  if (envelope.lossBackedOff) written.back = true;
  if (envelope.interruptions > 0) written.int = envelope.interruptions;
  if (envelope.redrives > 0) written.red = envelope.redrives;
  if (envelope.unknownTypeSince !== null) written.unk = envelope.unknownTypeSince;
  if (envelope.deadAt !== null) written.dead = envelope.deadAt;
  if (front !== null) written.front = front.length;
  else if (hasExtra) written.extra = extra;
  return {
    options: {
      messageId: randomUUID(),
      type: envelope.type,
      contentType: 'application/json',
      headers: { [HEADER]: JSON.stringify(written) },
    },
    body: front === null ? payload : Buffer.concat([front, payload]),
  };
}

export function decode({ properties, content }: Message): Decoded {
  const text: unknown = properties.headers?.[HEADER];
  if (typeof text !== 'string') return { broken: `The header "${HEADER}" is missing.` };
  const type = String(properties.type);
  try {
    const written = JSON.parse(text) as Written;
    if (written.v !== VERSION) return { broken: `The envelope is of version ${String(written.v)}.` };
    if (!JOB_ID.test(written.id) || !JOB_TYPE.test(type))
      return { broken: 'The envelope has no id or no type.' };
    const front = written.front ?? 0;
    const extra =
      front > 0 ? (JSON.parse(content.subarray(0, front).toString('utf8')) as Extra) : (written.extra ?? {});
    return { envelope: read(written, extra, type), payload: front > 0 ? content.subarray(front) : content };
  } catch (error) {
    return { broken: error instanceof Error ? error.message : String(error) };
  }
}

/** For what is told of a message. */
export function idOf(message: Message): string {
  const decoded = decode(message);
  return 'broken' in decoded ? 'unreadable' : decoded.envelope.id;
}

function read(written: Written, extra: Extra, type: string): Envelope {
  return {
    id: written.id,
    type,
    idempotencyKey: written.key ?? written.id,
    headers: extra.h ?? {},
    maxAttempts: written.max ?? null,
    enqueuedAt: written.at,
    dueAt: written.due ?? written.at,
    expiresAt: written.exp ?? null,
    attempt: written.att ?? 0,
    deliveries: written.del ?? 0,
    lostClaims: written.lost ?? 0,
    lossBackedOff: written.back ?? false,
    interruptions: written.int ?? 0,
    redrives: written.red ?? 0,
    unknownTypeSince: written.unk ?? null,
    history: extra.e ?? [],
    deadAt: written.dead ?? null,
  };
}

/** What the broker counted on this copy: how often it came back without a settlement, and how often it was taken. */
export interface BrokerCounts {
  readonly lost: number;
  readonly taken: number;
}

/** Only for messages of the ready queue: across dead-lettering the versions count differently. */
export function brokerCounts({ properties }: Message): BrokerCounts {
  const lost = whole(properties.headers?.['x-delivery-count']);
  // From 4.3 on returns that do not count are told apart.
  return { lost, taken: Math.max(lost, whole(properties.headers?.['x-acquired-count'])) };
}

function whole(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** The envelope as it stands at a claim: what was lost before is counted in, this claim is not. */
export function atClaim(envelope: Envelope, { lost, taken }: BrokerCounts): Envelope {
  if (lost === 0 && taken === 0) return envelope;
  return {
    ...envelope,
    attempt: envelope.attempt + lost,
    deliveries: envelope.deliveries + taken,
    lostClaims: envelope.lostClaims + lost,
    lossBackedOff: envelope.lossBackedOff && lost === 0,
  };
}

/** After a counted end of an attempt: the history of losses is over. */
export function charged(envelope: Envelope, error: JobError, dueAt: number, now: number): Envelope {
  return {
    ...envelope,
    attempt: envelope.attempt + 1,
    deliveries: envelope.deliveries + 1,
    lostClaims: 0,
    lossBackedOff: false,
    unknownTypeSince: null,
    dueAt,
    history: appended(envelope.history, { at: new Date(now).toISOString(), error }),
  };
}

export function released(envelope: Envelope, reason: ReleaseReason, dueAt: number, now: number): Envelope {
  const rule = RELEASE_REASONS[reason];
  const keepsMark = rule.marksUnknownType || reason === 'unstarted';
  return {
    ...envelope,
    deliveries: envelope.deliveries + 1,
    interruptions: envelope.interruptions + rule.interruptions,
    lossBackedOff: envelope.lossBackedOff || rule.marksLossBackedOff,
    unknownTypeSince: keepsMark ? (envelope.unknownTypeSince ?? (rule.marksUnknownType ? now : null)) : null,
    dueAt,
  };
}

export function redriven(envelope: Envelope, now: number): Envelope {
  return {
    ...envelope,
    attempt: 0,
    lostClaims: 0,
    lossBackedOff: false,
    interruptions: 0,
    unknownTypeSince: null,
    redrives: envelope.redrives + 1,
    dueAt: now,
    deadAt: null,
  };
}

/** The first error stays: it is the one that tells how it began. */
function appended(history: readonly HistoryEntry[], entry: HistoryEntry): readonly HistoryEntry[] {
  const all = [...history, entry];
  return all.length <= MAX_HISTORY ? all : [...all.slice(0, 1), ...all.slice(1 - MAX_HISTORY)];
}
