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

/** All that is known of a job beside its payload. Instants are ms since the epoch by the clock of the service. */
export interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly idempotencyKey: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxAttempts: number | null;
  /** Null in a job that was not sent yet: the service will say when. */
  readonly enqueuedAt: number | null;
  /** Since when it is ready. */
  readonly dueAt: number;
  readonly expiresInMs: number | null;
  /** Charged before this copy was made. */
  readonly attempt: number;
  readonly deliveries: number;
  readonly lostClaims: number;
  readonly lossBackedOff: boolean;
  readonly interruptions: number;
  readonly redrives: number;
  readonly unknownTypeSince: number | null;
  readonly history: readonly HistoryEntry[];
  /** Written by whoever buried it; a job that the service itself moved has no mark. */
  readonly isDead: boolean;
}

export function newEnvelope(job: NewJob): Envelope {
  return {
    id: job.id,
    type: job.type,
    idempotencyKey: job.idempotencyKey,
    headers: job.headers,
    maxAttempts: job.maxAttempts,
    enqueuedAt: null,
    dueAt: 0,
    expiresInMs: job.expiresInMs,
    attempt: 0,
    deliveries: 0,
    lostClaims: 0,
    lossBackedOff: false,
    interruptions: 0,
    redrives: 0,
    unknownTypeSince: null,
    history: [],
    isDead: false,
  };
}

/** The envelope as it stands at a claim: receives before this one were claims that were lost. */
export function atClaim(envelope: Envelope, receives: number): Envelope {
  const lost = Math.max(0, receives - 1);
  if (lost === 0) return envelope;
  return {
    ...envelope,
    attempt: envelope.attempt + lost,
    deliveries: envelope.deliveries + lost,
    lostClaims: envelope.lostClaims + lost,
    lossBackedOff: false,
  };
}

/** After a counted end of an attempt: the history of losses is over. */
export function charged(envelope: Envelope, error: JobError, now: number): Envelope {
  return {
    ...envelope,
    attempt: envelope.attempt + 1,
    deliveries: envelope.deliveries + 1,
    lostClaims: 0,
    lossBackedOff: false,
    unknownTypeSince: null,
    history: appended(envelope.history, { at: new Date(now).toISOString(), error }),
  };
}

export function released(envelope: Envelope, reason: ReleaseReason, now: number): Envelope {
  const rule = RELEASE_REASONS[reason];
  const keepsMark = rule.marksUnknownType || reason === 'unstarted';
  return {
    ...envelope,
    deliveries: envelope.deliveries + 1,
    interruptions: envelope.interruptions + rule.interruptions,
    lossBackedOff: envelope.lossBackedOff || rule.marksLossBackedOff,
    unknownTypeSince: keepsMark ? (envelope.unknownTypeSince ?? (rule.marksUnknownType ? now : null)) : null,
  };
}

export function redriven(envelope: Envelope): Envelope {
  return {
    ...envelope,
    attempt: 0,
    lostClaims: 0,
    lossBackedOff: false,
    interruptions: 0,
    unknownTypeSince: null,
    redrives: envelope.redrives + 1,
    isDead: false,
  };
}

/** The first error stays: it is the one that tells how it began. */
function appended(history: readonly HistoryEntry[], entry: HistoryEntry): readonly HistoryEntry[] {
  const all = [...history, entry];
  return all.length <= MAX_HISTORY ? all : [...all.slice(0, 1), ...all.slice(1 - MAX_HISTORY)];
}

export function isSound(envelope: Pick<Envelope, 'id' | 'type'>): boolean {
  return JOB_ID.test(envelope.id) && JOB_TYPE.test(envelope.type);
}
