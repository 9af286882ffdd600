import type { CallOptions, EnqueueOutcome, NewJob } from '@surety/core/contract';
import { isSuretyError, type SuretyError } from '@surety/core/errors';
import { type Call, failure, startCall } from '../call.ts';
import { type Context, sessionOf } from '../context.ts';
import { send } from '../copies.ts';
import { newEnvelope } from '../envelope.ts';
import { fromNative } from '../native-errors.ts';
import { refusal, sizeOf } from '../new-job.ts';
import type { Session } from '../session.ts';
import { depthOf } from './counts.ts';

/** Sends all at once, in requests of ten; each item has its own outcome. */
export async function enqueue(
  context: Context,
  jobs: readonly NewJob[],
  options: CallOptions,
): Promise<readonly EnqueueOutcome[]> {
  const session = sessionOf(context, 'enqueue');
  if (jobs.length === 0) return [];
  assertBatch(context, jobs);
  const call = startCall('enqueue', options);
  const outcomes: (EnqueueOutcome | null)[] = jobs.map((job) => {
    const error = refusal(job, context.capabilities);
    return error === null ? null : { status: 'rejected', id: job.id, error };
  });
  await refuseFull(session, jobs, outcomes, call);
  const seen = new Set<string>();
  await Promise.all(
    jobs.map(async (job, index) => {
      if (outcomes[index] !== null) return;
      const key = `${job.queue} ${job.id}`;
      if (seen.has(key)) {
        outcomes[index] = { status: 'duplicate', id: job.id, of: job.id };
        return;
      }
      seen.add(key);
      outcomes[index] = await sendOne(session, job, call);
    }),
  );
  return outcomes.map((outcome, index) => outcome ?? lost(jobs[index]));
}

async function sendOne(session: Session, job: NewJob, call: Call): Promise<EnqueueOutcome> {
  const { id, queue, payload, delayMs } = job;
  const envelope = newEnvelope(job);
  try {
    return await session.topology.on(queue, call, async (urls) => {
      const result = await send(session, urls, { envelope, payload }, { to: 'later', delayMs }, call);
      if (result.status === 'done') return { status: 'accepted', id };
      if (result.status === 'unknown') return { status: 'unknown', id, error: result.error };
      // Thrown, so that a queue that is missing is made and the job sent once more.
      throw result.error;
    });
  } catch (error) {
    return { status: 'rejected', id, error: asRejection(error) };
  }
}

function asRejection(error: unknown): SuretyError {
  return isSuretyError(error) ? error : fromNative(error, 'enqueue', 'SendMessage');
}

/** Items with a maximum depth, where ready and scheduled have reached it. What is sent in the same call counts too. */
async function refuseFull(
  session: Session,
  jobs: readonly NewJob[],
  outcomes: (EnqueueOutcome | null)[],
  call: Call,
): Promise<void> {
  const limited = new Set(
    jobs.flatMap((job, index) => (job.maxDepth !== null && outcomes[index] === null ? [job.queue] : [])),
  );
  for (const queue of limited) {
    const depth = await depthOf(session, queue, call).catch((error: unknown) => asRejection(error));
    judgeDepth(queue, depth, jobs, outcomes);
  }
}

function judgeDepth(
  queue: string,
  depth: number | SuretyError,
  jobs: readonly NewJob[],
  outcomes: (EnqueueOutcome | null)[],
): void {
  let sum = typeof depth === 'number' ? depth : 0;
  for (const [index, { id, queue: own, maxDepth }] of jobs.entries()) {
    if (own !== queue || outcomes[index] !== null) continue;
    if (maxDepth !== null && typeof depth !== 'number')
      outcomes[index] = { status: 'rejected', id, error: depth };
    else if (maxDepth !== null && sum >= maxDepth) {
      const what = `Queue "${queue}" has reached its depth of ${maxDepth}.`;
      outcomes[index] = {
        status: 'rejected',
        id,
        error: failure('QUEUE_FULL', what, 'enqueue', { jobId: id }),
      };
    } else sum += 1;
  }
}

/** Throws LIMIT_EXCEEDED for more than one call may carry. An item that is too large by itself is judged alone. */
function assertBatch({ capabilities }: Context, jobs: readonly NewJob[]): void {
  const { maxItems, maxBytes } = capabilities.batch;
  if (jobs.length > maxItems) {
    throw failure('LIMIT_EXCEEDED', `A batch of ${jobs.length} jobs is more than ${maxItems}.`, 'enqueue');
  }
  const { payload } = capabilities;
  const bytes = jobs.map(sizeOf).filter((each) => each <= payload.maxBytes);
  const sum = bytes.reduce((total, each) => total + each, 0);
  if (sum > maxBytes)
    throw failure('LIMIT_EXCEEDED', `A batch of ${sum} bytes is more than ${maxBytes}.`, 'enqueue');
}

function lost(job: NewJob | undefined): EnqueueOutcome {
  const error = failure('OUTCOME_UNKNOWN', 'The outcome of an item was lost.', 'enqueue');
  return { status: 'unknown', id: job?.id ?? '', error };
}
