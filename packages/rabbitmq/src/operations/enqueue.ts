import type { CallOptions, EnqueueOutcome, NewJob } from '@surety/core/contract';
import { type Call, failure, startCall } from '../call.ts';
import { type Context, sessionOf } from '../context.ts';
import { newEnvelope } from '../envelope.ts';
import type { Target } from '../moves.ts';
import { refusal, sizeOf } from '../new-job.ts';
import type { Session } from '../session.ts';
import type { Published } from '../wire/publisher.ts';
import { depthOf } from './counts.ts';

/** Messages that go out together: some packets. */
const PART = 100;

interface Item {
  readonly index: number;
  readonly job: NewJob;
  readonly queue: string;
  readonly target: Target;
}

/** Publishes all at once and waits for their confirms; each item has its own outcome. */
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
  const seen = new Map<string, Set<string>>();
  const items: Item[] = [];
  for (const [index, job] of jobs.entries()) {
    if (outcomes[index] !== null) continue;
    const { id, queue } = job;
    const own = seen.get(queue) ?? new Set();
    if (own.has(id)) outcomes[index] = { status: 'duplicate', id, of: id };
    else items.push({ index, job, queue, target: targetOf(job) });
    seen.set(queue, own.add(id));
  }
  await send(session, items, outcomes, call);
  return outcomes.map((outcome, index) => outcome ?? lost(jobs[index]));
}

async function send(
  session: Session,
  items: readonly Item[],
  outcomes: (EnqueueOutcome | null)[],
  call: Call,
): Promise<void> {
  // One queue that cannot be made fails its own jobs only.
  const byQueue = new Map<string, Item[]>();
  for (const item of items) {
    const own = byQueue.get(item.queue);
    if (own === undefined) byQueue.set(item.queue, [item]);
    else own.push(item);
  }
  const able: Item[] = [];
  await Promise.all(
    [...byQueue.values()].map(async (own) => {
      const error = await session.moves.prepare(own, call);
      if (error === null) for (const item of own) able.push(item);
      else for (const { index, job } of own) outcomes[index] = { status: 'rejected', id: job.id, error };
    }),
  );
  if (able.length === 0) return;
  if (byQueue.size > 1) able.sort((a, b) => a.index - b.index);
  const published = await publishInParts(session, able, call);
  for (const [place, { index, job, queue }] of able.entries()) {
    const result = published[place];
    if (result === undefined) continue;
    if (result.status === 'stored') outcomes[index] = { status: 'accepted', id: job.id };
    else if (result.status === 'unknown')
      outcomes[index] = { status: 'unknown', id: job.id, error: result.error };
    else {
      if (result.unroutable) session.topology.forget(queue);
      outcomes[index] = { status: 'rejected', id: job.id, error: result.error };
    }
  }
}

/** The broker takes in one part while the next is being made. Parts are sent in order. */
async function publishInParts(
  session: Session,
  items: readonly Item[],
  call: Call,
): Promise<readonly Published[]> {
  const now = Date.now();
  const parts: Promise<readonly Published[]>[] = [];
  for (let from = 0; from < items.length; from += PART) {
    if (from > 0) await new Promise((resolve) => setImmediate(resolve));
    const outgoing = items
      .slice(from, from + PART)
      .map(({ job, queue, target }) =>
        session.moves.outgoing(queue, newEnvelope(job, now), job.payload, target),
      );
    parts.push(session.publisher.publish(outgoing, call));
  }
  return (await Promise.all(parts)).flat();
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
    let depth: number;
    try {
      depth = await depthOf(session, queue, call);
    } catch (error) {
      for (const [index, job] of jobs.entries())
        if (job.queue === queue && job.maxDepth !== null && outcomes[index] === null)
          outcomes[index] = { status: 'rejected', id: job.id, error: error as EnqueueError };
      continue;
    }
    for (const [index, job] of jobs.entries()) {
      if (job.queue !== queue || outcomes[index] !== null) continue;
      if (job.maxDepth !== null && depth >= job.maxDepth) {
        const what = `Queue "${queue}" has reached its depth of ${job.maxDepth}.`;
        outcomes[index] = {
          status: 'rejected',
          id: job.id,
          error: failure('QUEUE_FULL', what, 'enqueue', { jobId: job.id }),
        };
      } else depth += 1;
    }
  }
}

type EnqueueError = Extract<EnqueueOutcome, { readonly status: 'rejected' }>['error'];

function targetOf({ delayMs }: NewJob): Target {
  return delayMs > 0 ? { to: 'later', delayMs } : { to: 'ready' };
}

function assertBatch({ capabilities }: Context, jobs: readonly NewJob[]): void {
  const { maxItems, maxBytes } = capabilities.batch;
  if (jobs.length > maxItems) {
    throw failure('LIMIT_EXCEEDED', `A batch of ${jobs.length} jobs is more than ${maxItems}.`, 'enqueue');
  }
  let sum = 0;
  for (const job of jobs) {
    const bytes = sizeOf(job);
    if (bytes <= capabilities.payload.maxBytes) sum += bytes;
  }
  if (sum > maxBytes)
    throw failure('LIMIT_EXCEEDED', `A batch of ${sum} bytes is more than ${maxBytes}.`, 'enqueue');
}

function lost(job: NewJob | undefined): EnqueueOutcome {
  const error = failure('OUTCOME_UNKNOWN', 'The outcome of an item was lost.', 'enqueue');
  return { status: 'unknown', id: job?.id ?? '', error };
}
