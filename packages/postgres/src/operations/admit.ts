import type { EnqueueOutcome, NewJob } from '@surety/core/contract';
import { type Context, failure } from '../context.ts';
import type { Call } from '../deadline.ts';
import type { QueueState } from '../queue-state.ts';
import type { Send } from './enqueue.ts';

/** A count is good for twenty times as long as it took, so that counting costs a twentieth at most. */
const COUNT_SHARE = 20;
const COUNT_OLDEST_MS = 1000;

/** Refuses what is past the maximum depth of its queue (G7.3). Returns the places of the rest. */
export async function admit(
  context: Context,
  jobs: readonly NewJob[],
  places: readonly number[],
  slots: (EnqueueOutcome | null)[],
  call: Call,
  send: Send,
): Promise<number[]> {
  const admitted: number[] = [];
  const inBatch = new Map<string, number>();
  for (const place of places) {
    const job = jobs[place] as NewJob;
    const before = inBatch.get(job.queue) ?? 0;
    if (job.maxDepth !== null) {
      const depth = await depthOf(context, job.queue, job.maxDepth, before, call, send);
      if (depth !== null && depth + before >= job.maxDepth) {
        const what = `The queue "${job.queue}" holds ${job.maxDepth} jobs or more.`;
        slots[place] = {
          status: 'rejected',
          id: job.id,
          error: failure('QUEUE_FULL', what, 'enqueue', job.id),
        };
        continue;
      }
    }
    inBatch.set(job.queue, before + 1);
    admitted.push(place);
  }
  return admitted;
}

/** Null: it could not be counted; the statement that stores will meet the same trouble and say so. */
async function depthOf(
  context: Context,
  queue: string,
  maxDepth: number,
  before: number,
  call: Call,
  send: Send,
): Promise<number | null> {
  const state = context.queues.of(queue);
  const known = freshDepth(state);
  if (known !== null && known + before < maxDepth) return known;
  if (known !== null && state.depth !== null && state.depth.tookMs === 0) return known;
  const startedAt = performance.now();
  const result = await send(context.sql.depth, [queue, maxDepth], call);
  if (!result.ok) return null;
  const counted = (result.rows[0] as { readonly depth: number }).depth;
  const now = performance.now();
  state.depth = { counted, added: 0, at: now, tookMs: now - startedAt };
  return counted;
}

function freshDepth({ depth }: QueueState): number | null {
  if (depth === null) return null;
  const age = performance.now() - depth.at;
  return age < Math.min(depth.tookMs * COUNT_SHARE, COUNT_OLDEST_MS) ? depth.counted + depth.added : null;
}
