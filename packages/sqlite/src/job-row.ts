import type { DeadLetter, HistoryEntry, JobFacts, JobView, Lease } from '@surety/core/contract';

/** Counters of surety_past as a left join gives them: all null for a job that has no past. */
export interface PastColumns {
  readonly attempt: number | null;
  readonly deliveries: number | null;
  readonly lost_claims: number | null;
  readonly interruptions: number | null;
  readonly redrives: number | null;
}

interface IdentityColumns extends PastColumns {
  readonly id: string;
  readonly type: string;
  readonly max_attempts: number | null;
  readonly idempotency_key: string | null;
  readonly headers: string | null;
  readonly payload: string;
}

/** Columns of take-page and read-held. */
export type LeaseCells = readonly [
  seq: number,
  fence: number,
  due: number,
  id: string,
  type: string,
  expires: number | null,
  maxAttempts: number | null,
  idempotencyKey: string | null,
  headers: string | null,
  payload: string,
  priority: number,
  place: number,
];

/** A row of read-pasts. */
export interface LeasePast {
  readonly seq: number;
  readonly attempt: number;
  readonly lost_claims: number;
  readonly interruptions: number;
  readonly redrives: number;
  readonly loss_backed_off: number;
  readonly unknown_type_since: number | null;
  readonly due: number;
}

/** A row of find-job or list-dead. */
export interface ViewRow extends IdentityColumns {
  readonly seq: number;
  readonly queue: number;
  readonly priority: number;
  readonly created: number;
  readonly due: number;
  readonly dedupe_key: string | null;
  readonly history: string | null;
  readonly dead_at: number | null;
  readonly reason: string | null;
}

/** A lease as this adapter hands it out: it names the job by a number that is never used twice. */
export interface SqliteLease extends Lease {
  readonly seq: number;
}

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/**
 * The lease of a row under a claim. Its attempt is one more than stored: a claim is not charged before its end. The
 * number of the delivery is the fence, so it grows with every claim of the job (G2.7).
 */
export function leaseOf(
  row: LeaseCells,
  past: LeasePast | undefined,
  queue: string,
  nonce: string,
  now: number,
): SqliteLease {
  const [seq, fence, due, id, type, expires, maxAttempts, idempotencyKey, headers, payload] = row;
  const since = past?.unknown_type_since ?? null;
  return {
    id,
    queue,
    type,
    headers: readHeaders(headers),
    idempotencyKey: idempotencyKey ?? id,
    maxAttempts,
    attempt: (past?.attempt ?? 0) + 1,
    deliveries: fence,
    lostClaims: past?.lost_claims ?? 0,
    interruptions: past?.interruptions ?? 0,
    redrives: past?.redrives ?? 0,
    token: { nonce, fence },
    payload: parsePayload(payload),
    lossBackedOff: past?.loss_backed_off === 1,
    unknownTypeForMs: since === null ? null : now - since,
    waitedMs: Math.max(0, now - (past?.due ?? due)),
    expiresInMs: expires === null ? null : expires - now,
    seq,
  };
}

/** What a view adds to the row of a job: where it stands. */
export interface Standing {
  readonly state: JobView['state'];
  readonly dueInMs: number | null;
  /** The delivery under way, where it is leased. */
  readonly deliveries: number | null;
}

/** A job as seen from outside. */
export function viewOf(
  row: Omit<ViewRow, 'seq' | 'queue' | 'due' | 'dead_at' | 'reason'>,
  queue: string,
  standing: Standing,
  now: number,
): JobView {
  const history = readHistory(row.history);
  return {
    ...factsOf(row, queue),
    deliveries: standing.deliveries ?? row.deliveries ?? 0,
    state: standing.state,
    priority: row.priority,
    payload: row.payload,
    dueInMs: standing.dueInMs,
    ageMs: Math.max(0, now - row.created),
    dedupeKey: row.dedupe_key,
    lastError: history.at(-1)?.error ?? null,
    history,
  };
}

/** A dead letter. */
export function deadLetterOf(row: ViewRow, queue: string, now: number): DeadLetter {
  return {
    ...viewOf(row, queue, { state: 'dead', dueInMs: null, deliveries: null }, now),
    state: 'dead',
    deadAt: new Date(row.dead_at ?? now).toISOString(),
    reason: row.reason ?? '',
  };
}

/** A stored history; none for a job that never failed. */
export function readHistory(text: string | null): readonly HistoryEntry[] {
  return text === null ? [] : (JSON.parse(text) as HistoryEntry[]);
}

function factsOf(row: IdentityColumns, queue: string): JobFacts {
  return {
    id: row.id,
    queue,
    type: row.type,
    headers: readHeaders(row.headers),
    idempotencyKey: row.idempotency_key ?? row.id,
    maxAttempts: row.max_attempts,
    attempt: row.attempt ?? 0,
    deliveries: row.deliveries ?? 0,
    lostClaims: row.lost_claims ?? 0,
    interruptions: row.interruptions ?? 0,
    redrives: row.redrives ?? 0,
  };
}

function readHeaders(text: string | null): Readonly<Record<string, string>> {
  return text === null ? NO_HEADERS : (JSON.parse(text) as Record<string, string>);
}

/** A text that does not parse spoils this lease only: core buries the job. */
function parsePayload(text: string): Lease['payload'] {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { unreadable: error instanceof Error ? error.message : String(error) };
  }
}
