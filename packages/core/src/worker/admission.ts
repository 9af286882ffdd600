import type { JobError, Lease, ReleaseReason } from '../contract/index.ts';
import type { Handler } from '../definition/handle.ts';
import type { ErrorCode } from '../errors/index.ts';
import { backoffMs } from '../retry/backoff.ts';

/** Orderly interruptions a job may have; past it, it is buried as interrupted too often. */
const MAX_INTERRUPTIONS = 100;
/** How long a type may be unknown to every worker before its jobs are buried. */
const UNKNOWN_TYPE_LIMIT_MS = 24 * 3_600_000;
const UNKNOWN_TYPE_FIRST_MS = 5000;
const UNKNOWN_TYPE_LONGEST_MS = 60_000;
const UNKNOWN_TYPE_SPREAD = 0.2;
/** From this many losses on a job waits before it runs again. */
const BACKOFF_FROM_LOSSES = 2;

/** What to do with a claimed job before it may start. */
export type Admission =
  | { readonly verdict: 'start' }
  | { readonly verdict: 'release'; readonly reason: ReleaseReason; readonly delayMs: number }
  | { readonly verdict: 'bury'; readonly error: JobError };

const START: Admission = Object.freeze({ verdict: 'start' });

/**
 * The one place where a job is settled without a start: unreadable, expired, unknown, past its limits, or lost so often that
 * it waits first. The order matters: what can never run is buried before anything is put back.
 */
export function admit(lease: Lease, handler: Handler | null, random: () => number): Admission {
  if (lease.expiresInMs !== null && lease.expiresInMs <= 0)
    return buried(lease, 'EXPIRED', 'not started before its expiry');
  if ('unreadable' in lease.payload)
    return buried(
      lease,
      'PAYLOAD_CORRUPT',
      `the stored payload cannot be parsed: ${lease.payload.unreadable}`,
    );
  if (lease.interruptions >= MAX_INTERRUPTIONS)
    return buried(lease, 'INTERRUPTED_TOO_OFTEN', `interrupted too often: ${lease.interruptions} times`);
  if (handler === null) return unknownType(lease, random);
  const limit = lease.maxAttempts ?? handler.definition.retry.maxAttempts;
  if (lease.attempt > limit)
    return buried(lease, 'WORKER_LOST', `worker lost ${lease.lostClaims} times; ${limit} attempts are spent`);
  if (lease.lostClaims >= BACKOFF_FROM_LOSSES && !lease.lossBackedOff) {
    return {
      verdict: 'release',
      reason: 'loss-backoff',
      delayMs: backoffMs(handler.definition.retry, lease.lostClaims, random),
    };
  }
  return START;
}

/** A rolling deploy is under way, most likely: put back, 5 s doubling to 60 s by the time it has been unknown; buried after a day. */
function unknownType(lease: Lease, random: () => number): Admission {
  const forMs = lease.unknownTypeForMs ?? 0;
  if (forMs >= UNKNOWN_TYPE_LIMIT_MS)
    return buried(
      lease,
      'UNKNOWN_TYPE',
      `no worker of queue ${lease.queue} has known type ${lease.type} for 24 hours`,
    );
  const delayMs = Math.min(Math.max(forMs, UNKNOWN_TYPE_FIRST_MS), UNKNOWN_TYPE_LONGEST_MS);
  // Spread a little: jobs that come back all at once go all to the worker that asks first, which may be the old one each time.
  const spreadMs = Math.round(delayMs * UNKNOWN_TYPE_SPREAD * random());
  return { verdict: 'release', reason: 'unknown-type', delayMs: delayMs + spreadMs };
}

function buried(lease: Lease, code: ErrorCode, message: string): Admission {
  // The attempt that was not started is not one: the history names the last that was.
  return {
    verdict: 'bury',
    error: { code, name: 'SuretyError', message, stack: null, attempt: lease.attempt - 1 },
  };
}
