import type { JobError, Settlement } from '../contract/index.ts';
import { backoffMs, type RetryPolicy } from '../retry/backoff.ts';
import type { Attempt } from './attempt.ts';
import { describeError } from './describe-error.ts';
import { isHandlerOutcome, isPermanent } from './outcome.ts';

/** How a handler ended. */
export type HandlerEnd =
  | { readonly returned: unknown }
  | { readonly threw: unknown }
  /** The stored payload does not fit the schema of this worker: no retry can change that. */
  | { readonly unfit: unknown };

/** The retry policy that holds for this job: the limit of the enqueue wins over the definition's. */
export function policyOf(attempt: Attempt): RetryPolicy {
  const policy = attempt.handler?.definition.retry ?? { maxAttempts: 1, baseMs: 0, capMs: 0 };
  const own = attempt.lease.maxAttempts;
  return own === null ? policy : { ...policy, maxAttempts: own };
}

/** The one place that decides what becomes of a job whose handler has ended (G4.1). Sets settlement, outcome and error. */
export function decideEnding(attempt: Attempt, end: HandlerEnd, random: () => number): void {
  if (attempt.abortReason?.kind === 'timeout') return failTimeout(attempt, random);
  if ('unfit' in end)
    return bury(attempt, describeError(end.unfit, attempt.lease.attempt, 'PAYLOAD_INVALID'));
  if ('threw' in end) {
    // What a handler throws once it was told to stop is the stop, not a fault of the job: a deploy burns no attempt.
    if (attempt.abortReason?.kind === 'shutdown') return release(attempt);
    return fail(attempt, end.threw, random);
  }
  if (!isHandlerOutcome(end.returned))
    return set(attempt, { kind: 'complete', lease: attempt.lease, outcome: 'completed' }, 'completed');
  const outcome = end.returned;
  switch (outcome.kind) {
    case 'snooze':
      return set(
        attempt,
        { kind: 'release', lease: attempt.lease, delayMs: outcome.delayMs, reason: 'snooze' },
        'snoozed',
      );
    case 'cancel':
      attempt.reason = outcome.reason;
      return set(attempt, { kind: 'complete', lease: attempt.lease, outcome: 'cancelled' }, 'cancelled');
    case 'bury':
      return bury(attempt, describeError(new Burial(outcome.reason), attempt.lease.attempt, 'BURIED'));
  }
}

/** The time of its grace is over, or it ended after its timeout: whatever it gave is discarded. */
export function failTimeout(attempt: Attempt, random: () => number): void {
  const seconds = (attempt.handler?.definition.timeoutMs ?? 0) / 1000;
  retryOrBury(
    attempt,
    describeError(new TimeoutFault(`ran longer than ${seconds} s`), attempt.lease.attempt, 'TIMEOUT'),
    random,
  );
}

/** Handed back by an orderly stop, refunded. */
export function release(attempt: Attempt): void {
  set(attempt, { kind: 'release', lease: attempt.lease, delayMs: 0, reason: 'stop' }, 'released');
}

function fail(attempt: Attempt, thrown: unknown, random: () => number): void {
  if (isPermanent(thrown))
    return bury(attempt, describeError(thrown, attempt.lease.attempt, 'PERMANENT_FAILURE'));
  retryOrBury(attempt, describeError(thrown, attempt.lease.attempt, 'HANDLER_FAILED'), random);
}

function retryOrBury(attempt: Attempt, error: JobError, random: () => number): void {
  const policy = policyOf(attempt);
  if (attempt.lease.attempt >= policy.maxAttempts) return bury(attempt, error);
  attempt.error = error;
  const delayMs = backoffMs(policy, attempt.lease.attempt, random);
  set(attempt, { kind: 'retry', lease: attempt.lease, delayMs, error }, 'retried');
}

function bury(attempt: Attempt, error: JobError): void {
  attempt.error = error;
  set(attempt, { kind: 'bury', lease: attempt.lease, error }, 'dead');
}

function set(attempt: Attempt, settlement: Settlement, outcome: Attempt['outcome']): void {
  attempt.settlement = settlement;
  attempt.outcome = outcome;
}

class TimeoutFault extends Error {
  override readonly name = 'TimeoutError';
}

/** Carries a handler's own reason; where it was made says nothing. */
class Burial extends Error {
  override readonly name = 'Buried';
  override readonly stack = '';
}
