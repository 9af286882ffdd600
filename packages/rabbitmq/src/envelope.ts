import {
  type HistoryEntry,
  type JobError,
  MAX_HISTORY,
  type NewJob,
  RELEASE_REASONS,
  type ReleaseReason,
} from '@surety/core/contract';
import type { Message } from 'amqplib';

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
