import {
  type CallOptions,
  DEFAULT_PRIORITY,
  ENVELOPE_BYTES,
  type EnqueueOutcome,
  type NewJob,
} from '@surety/core/contract';
import { type ErrorCode, SuretyError } from '@surety/core/errors';
import { ADAPTER } from '../connection.ts';
import type { Context } from '../store/context.ts';
import { newCopy } from '../store/copy.ts';
import type { QueueState } from '../store/queue-state.ts';

/** Stores jobs one by one, in order; all of a batch at one instant of the store's clock. */
export async function enqueue(
  context: Context,
  jobs: readonly NewJob[],
  options: CallOptions,
): Promise<readonly EnqueueOutcome[]> {
  if (jobs.length === 0) return [];
  const tooMany = jobs.length > context.capabilities.batch.maxItems;
  if (tooMany)
    throw broken('LIMIT_EXCEEDED', `A batch of ${jobs.length} jobs is more than the backend takes.`, null);
  const toAll = (status: 'unknown' | 'rejected') => (error: SuretyError) =>
    jobs.map((job) => ({ status, id: job.id, error }) satisfies EnqueueOutcome);
  return context.connection.call('enqueue', options.timeoutMs, () => storeAll(context, jobs), {
    unknown: toAll('unknown'),
    refused: toAll('rejected'),
  });
}

function storeAll(context: Context, jobs: readonly NewJob[]): EnqueueOutcome[] {
  const seen = new Set<string>();
  const touched = new Set<QueueState>();
  const outcomes = jobs.map((job) => {
    const refusal = refuse(context, job);
    if (refusal !== null) return { status: 'rejected', id: job.id, error: refusal } satisfies EnqueueOutcome;
    const queue = context.store.queue(job.queue);
    const outcome = storeOne(context, queue, job, seen);
    if (outcome.status === 'accepted') {
      seen.add(`${job.queue} ${job.id}`);
      touched.add(queue);
    }
    return outcome;
  });
  for (const queue of touched) context.store.touched(queue);
  return outcomes;
}

function storeOne(context: Context, queue: QueueState, job: NewJob, seen: Set<string>): EnqueueOutcome {
  const { store, capabilities } = context;
  const present = queue.copies(job.id).length > 0;
  const remembered = capabilities.idempotentEnqueue === 'while-present' && present;
  if (remembered || seen.has(`${job.queue} ${job.id}`)) {
    return { status: 'duplicate', id: job.id, of: job.id };
  }
  const owner = job.dedupe === null ? null : queue.dedupe.owner(job.dedupe.key);
  if (owner !== null) return { status: 'duplicate', id: job.id, of: owner };
  if (job.maxDepth !== null && queue.ready + queue.scheduled >= job.maxDepth) {
    const error = broken(
      'QUEUE_FULL',
      `Queue '${job.queue}' has reached its depth of ${job.maxDepth}.`,
      job.id,
    );
    return { status: 'rejected', id: job.id, error };
  }
  const now = store.clock.now();
  const copy = newCopy(job, store.next(), now);
  queue.add(copy);
  queue.await(copy, store.after(job.delayMs), now);
  if (job.dedupe !== null) queue.dedupe.put(job.dedupe.key, job.id, now + job.dedupe.windowMs);
  if (present) store.faults.note('id-stored-again', { queue: job.queue, jobId: job.id, copy: copy.serial });
  store.onStored?.(job);
  return { status: 'accepted', id: job.id };
}

/** Why a job cannot be stored by what the backend states; null: it can. */
function refuse(context: Context, job: NewJob): SuretyError | null {
  const { delay, dedupe, priority, maxDepth, payload } = context.capabilities;
  if (job.delayMs > delay.maxMs)
    return broken('LIMIT_EXCEEDED', `A delay of ${job.delayMs} ms is too long.`, job.id);
  if (
    priority === 'none'
      ? job.priority !== DEFAULT_PRIORITY && job.priority !== 0
      : job.priority >= priority.levels
  ) {
    return broken('CAPABILITY_MISSING', `The backend has no priority ${job.priority}.`, job.id);
  }
  if (job.maxDepth !== null && maxDepth === 'none') {
    return broken('CAPABILITY_MISSING', 'The backend cannot bound the depth of a queue.', job.id);
  }
  if (job.dedupe !== null && dedupe === 'none') {
    return broken('CAPABILITY_MISSING', 'The backend cannot de-duplicate.', job.id);
  }
  if (job.dedupe !== null && dedupe !== 'none' && job.dedupe.windowMs > dedupe.maxWindowMs) {
    return broken('LIMIT_EXCEEDED', `A dedupe window of ${job.dedupe.windowMs} ms is too long.`, job.id);
  }
  const bytes = sizeOf(job);
  if (bytes > payload.maxBytes) {
    return broken('PAYLOAD_TOO_LARGE', `The job has ${bytes} bytes, more than ${payload.maxBytes}.`, job.id);
  }
  return null;
}

function sizeOf(job: NewJob): number {
  let bytes = ENVELOPE_BYTES + Buffer.byteLength(job.payload);
  for (const [name, value] of Object.entries(job.headers)) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  }
  return job.dedupe === null ? bytes : bytes + Buffer.byteLength(job.dedupe.key);
}

function broken(code: ErrorCode, what: string, jobId: string | null): SuretyError {
  return new SuretyError(code, what, { adapter: ADAPTER, operation: 'enqueue', jobId });
}
