import type { EnqueueOutcome } from '../contract/index.ts';
import { isSuretyError, SuretyError } from '../errors/index.ts';

/** A stored job. `duplicate`: nothing was stored, `id` is the job that stands for it. */
export interface EnqueueResult {
  readonly status: 'accepted' | 'duplicate';
  readonly id: string;
}

/** Per item of `enqueueMany`, in order. */
export type EnqueueManyResult =
  | EnqueueResult
  | { readonly status: 'rejected' | 'unknown'; readonly id: string | null; readonly error: SuretyError };

/** Throws the error of what was not stored, or may not have been. */
export function resultOf(outcome: EnqueueOutcome): EnqueueResult {
  if (outcome.status === 'accepted') return { status: 'accepted', id: outcome.id };
  if (outcome.status === 'duplicate') return { status: 'duplicate', id: outcome.of };
  throw withJobId(outcome.error, outcome.id, outcome.status);
}

/** The same as a value. */
export function manyResultOf(outcome: EnqueueOutcome | undefined): EnqueueManyResult {
  if (outcome === undefined) {
    return {
      status: 'unknown',
      id: null,
      error: new SuretyError('ADAPTER_BROKE_CONTRACT', 'The adapter gave no outcome.'),
    };
  }
  if (outcome.status === 'accepted') return { status: 'accepted', id: outcome.id };
  if (outcome.status === 'duplicate') return { status: 'duplicate', id: outcome.of };
  return {
    status: outcome.status,
    id: outcome.id,
    error: withJobId(outcome.error, outcome.id, outcome.status),
  };
}

/** The error with the id of its job, which a repeat of an unknown enqueue needs. */
function withJobId(error: unknown, jobId: string, status: 'rejected' | 'unknown'): SuretyError {
  const known = asSuretyError(error);
  if (known.jobId === jobId && (status === 'rejected' || known.retryable === 'unknown')) return known;
  const { adapter, operation, retryable } = known;
  if (status === 'rejected') {
    return new SuretyError(known.code, known.message, {
      adapter,
      operation,
      retryable,
      jobId,
      cause: known.cause ?? known,
      remedy: '',
    });
  }
  return new SuretyError('OUTCOME_UNKNOWN', 'The answer of the store was lost.', {
    jobId,
    adapter: known.adapter,
    operation: known.operation,
    cause: known,
  });
}

/** Whatever was thrown, as an error with a code. */
export function asSuretyError(error: unknown): SuretyError {
  return isSuretyError(error)
    ? error
    : new SuretyError('INTERNAL', error instanceof Error ? error.message : String(error), { cause: error });
}
