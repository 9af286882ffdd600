import type { EnqueueOutcome, NewJob } from '../contract/index.ts';
import { isSuretyError, SuretyError } from '../errors/index.ts';
import { inTime, LATE, SLACK_MS } from '../startup/in-time.ts';

/** A call that stores jobs: a backend's, or that of its transactional facet. */
export type EnqueueCall = (
  jobs: readonly NewJob[],
  options: { readonly timeoutMs: number },
) => Promise<readonly EnqueueOutcome[]>;

/**
 * One outcome for each job, in order, within the time limit and a little, whatever the adapter does (G1.2). What it does not
 * answer, or answers for another job, is `unknown`. Rejects with what the adapter throws.
 */
export async function answersOf(
  call: EnqueueCall,
  jobs: readonly NewJob[],
  timeoutMs: number,
): Promise<readonly EnqueueOutcome[]> {
  const answer: unknown = await inTime(call(jobs, { timeoutMs }), timeoutMs + SLACK_MS);
  if (answer === LATE) return jobs.map((job) => unanswered(job, 'The adapter did not keep its time limit.'));
  const outcomes: readonly unknown[] = Array.isArray(answer) ? answer : [];
  return jobs.map((job, index) =>
    isOutcomeOf(job, outcomes[index])
      ? outcomes[index]
      : unanswered(job, 'The adapter gave no outcome for this job.'),
  );
}

/** The same, with what was thrown as an outcome for each job: what may be stored is unknown, never rejected. */
export async function enqueueGuarded(
  call: EnqueueCall,
  jobs: readonly NewJob[],
  timeoutMs: number,
): Promise<readonly EnqueueOutcome[]> {
  try {
    return await answersOf(call, jobs, timeoutMs);
  } catch (error) {
    return jobs.map(({ id }) => brokenOff(id, error));
  }
}

function brokenOff(id: string, error: unknown): EnqueueOutcome {
  if (isSuretyError(error) && error.retryable !== 'unknown') return { status: 'rejected', id, error };
  const unknown = new SuretyError('OUTCOME_UNKNOWN', 'The store broke off.', { jobId: id, cause: error });
  return { status: 'unknown', id, error: unknown };
}

/** The job may be stored: only the answer is missing. */
function unanswered({ id }: NewJob, what: string): EnqueueOutcome {
  return { status: 'unknown', id, error: new SuretyError('ADAPTER_BROKE_CONTRACT', what, { jobId: id }) };
}

const STATUSES: ReadonlySet<unknown> = new Set<EnqueueOutcome['status']>([
  'accepted',
  'duplicate',
  'rejected',
  'unknown',
]);

function isOutcomeOf(job: NewJob, outcome: unknown): outcome is EnqueueOutcome {
  const given = outcome as Partial<EnqueueOutcome> | null | undefined;
  return given?.id === job.id && STATUSES.has(given.status);
}
