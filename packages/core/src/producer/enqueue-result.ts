import type { EnqueueOutcome } from '../contract/index.ts';
import { ERROR_CODES, isSuretyError, type Retryable, SuretyError } from '../errors/index.ts';
import { messageOf } from '../errors/message-of.ts';

/** A stored job. `duplicate`: nothing was stored, `id` is the job that stands for it. */
export interface EnqueueResult {
  readonly status: 'accepted' | 'duplicate';
  readonly id: string;
}

/** Per item of `enqueueMany`, in order. `id` is null only for what was refused before it had one. */
export type EnqueueManyResult =
  | EnqueueResult
  | { readonly status: 'rejected' | 'unknown'; readonly id: string | null; readonly error: SuretyError };

/** Throws the error of what was not stored, or may not have been. */
export function resultOf(outcome: EnqueueOutcome): EnqueueResult {
  if (outcome.status === 'accepted') return { status: 'accepted', id: outcome.id };
  if (outcome.status === 'duplicate') return { status: 'duplicate', id: outcome.of };
  throw errorOf(outcome);
}

/** The same as a value. */
export function manyResultOf(outcome: EnqueueOutcome): EnqueueManyResult {
  if (outcome.status === 'accepted' || outcome.status === 'duplicate') return resultOf(outcome);
  return { status: outcome.status, id: outcome.id, error: errorOf(outcome) };
}

/**
 * With the id of its job, which a repeat needs. What is certainly not stored never says `retryable: unknown`; what may be
 * stored always does, and has a code of the family `uncertain`.
 */
function errorOf({ status, id, error }: EnqueueOutcome & { status: 'rejected' | 'unknown' }): SuretyError {
  const known = asSuretyError(error);
  if (status === 'rejected') {
    return withJob(known, id, known.retryable === 'unknown' ? 'yes' : known.retryable);
  }
  if (ERROR_CODES[known.code]?.family === 'uncertain') return withJob(known, id, 'unknown');
  const { adapter, operation } = known;
  return new SuretyError('OUTCOME_UNKNOWN', `The answer of the store was lost (${known.code}).`, {
    jobId: id,
    adapter,
    operation,
    cause: known,
  });
}

function withJob(known: SuretyError, jobId: string, retryable: Retryable): SuretyError {
  if (known.jobId === jobId && known.retryable === retryable) return known;
  const { code, message, remedy, adapter, operation, cause } = known;
  const what = message.endsWith(remedy)
    ? message.slice(0, message.length - remedy.length).trimEnd()
    : message;
  return new SuretyError(code, what, {
    adapter,
    operation,
    jobId,
    retryable,
    remedy: what === message ? '' : remedy,
    cause: cause ?? known,
  });
}

/** Whatever was thrown, as an error with a code. */
export function asSuretyError(error: unknown): SuretyError {
  return isSuretyError(error)
    ? error
    : new SuretyError('INTERNAL', `An error without a code: ${messageOf(error)}.`, { cause: error });
}
