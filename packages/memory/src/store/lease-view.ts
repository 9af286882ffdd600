import type { DeadLetter, JobFacts, JobView, Lease } from '@surety/core/contract';
import type { Copy, HeldLease } from './copy.ts';

/** Where a lease keeps which copy it holds: an id alone does not tell where a job can have several. */
const COPY: unique symbol = Symbol('surety.memory.copy');

/** The same for who records histories; only where a job can have several copies. */
const TOLD_COPY: unique symbol = Symbol.for('surety.copy') as never;

interface HoldingLease extends Lease {
  readonly [COPY]: number;
  [TOLD_COPY]?: string;
}

function factsOf(copy: Copy): JobFacts {
  const { id, queue, type, headers, idempotencyKey, maxAttempts } = copy.job;
  const { attempt, deliveries, lostClaims, interruptions, redrives } = copy;
  return {
    id,
    queue,
    type,
    headers,
    idempotencyKey,
    maxAttempts,
    attempt,
    deliveries,
    lostClaims,
    interruptions,
    redrives,
  };
}

function parse(text: string): Lease['payload'] {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { unreadable: error instanceof Error ? error.message : String(error) };
  }
}

/** The lease that tells its holder about a held copy. */
export function leaseOf(copy: Copy, held: HeldLease, now: number): Lease {
  const lease: HoldingLease = {
    ...factsOf(copy),
    attempt: copy.attempt + 1,
    deliveries: copy.deliveries + 1,
    token: { nonce: held.nonce, fence: held.fence },
    payload: parse(copy.payload),
    lossBackedOff: copy.lossBackedOff,
    unknownTypeForMs: copy.unknownTypeSince === null ? null : now - copy.unknownTypeSince,
    waitedMs: Math.max(0, now - copy.dueAt),
    expiresInMs: copy.expiresAt === null ? null : copy.expiresAt - now,
    [COPY]: copy.serial,
  };
  return lease;
}

/** As `leaseOf`, where a job can have several copies. */
export function copyLeaseOf(copy: Copy, held: HeldLease, now: number): Lease {
  const lease: HoldingLease = leaseOf(copy, held, now) as HoldingLease;
  lease[TOLD_COPY] = String(copy.serial);
  return lease;
}

/** Whether this lease is the one that holds the copy now. */
export function holds(lease: Lease, copy: Copy, now: number): boolean {
  const held = copy.lease;
  return (
    held !== null &&
    held.end > now &&
    (lease as HoldingLease)[COPY] === copy.serial &&
    lease.token.nonce === held.nonce &&
    lease.token.fence === held.fence
  );
}

/** A copy as seen from outside. */
export function viewOf(copy: Copy, now: number): JobView {
  const waiting = copy.state === 'scheduled' || copy.state === 'ready';
  return {
    ...factsOf(copy),
    // A claim that is under way is a delivery that is known.
    deliveries: copy.deliveries + (copy.lease === null ? 0 : 1),
    state: copy.state,
    priority: copy.job.priority,
    payload: copy.payload,
    dueInMs: waiting ? copy.dueAt - now : null,
    ageMs: now - copy.enqueuedAt,
    dedupeKey: copy.job.dedupe?.key ?? null,
    lastError: copy.history.at(-1)?.error ?? null,
    history: copy.history,
  };
}

/** A dead copy as seen from outside. */
export function deadLetterOf(copy: Copy, dead: NonNullable<Copy['dead']>, now: number): DeadLetter {
  return {
    ...viewOf(copy, now),
    state: 'dead',
    deadAt: new Date(dead.at).toISOString(),
    reason: dead.reason,
  };
}
