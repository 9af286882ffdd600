import type { CallOptions, EnqueueOutcome, NewJob } from '@surety/core/contract';
import { type Call, failure, startCall } from '../call.ts';
import { type Context, sessionOf } from '../context.ts';
import { encodeNew } from '../message-body.ts';
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
}

/** The jobs of a call for one queue. */
interface Group {
  readonly ids: Set<string>;
  readonly items: Item[];
  /** The one with the longest delay. */
  longest: NewJob;
}

/** Publishes all at once and waits for their confirms; each item has its own outcome. */
export async function enqueue(
  context: Context,
  jobs: readonly NewJob[],
  options: CallOptions,
): Promise<readonly EnqueueOutcome[]> {
  const session = sessionOf(context, 'enqueue');
  if (jobs.length === 0) return [];
  const sizes = jobs.map(sizeOf);
  assertBatch(context, sizes);
  const call = startCall('enqueue', options);
  const outcomes: (EnqueueOutcome | null)[] = jobs.map((job, index) => {
    const error = refusal(job, sizes[index] ?? 0, context.capabilities);
    return error === null ? null : { status: 'rejected', id: job.id, error };
  });
  await refuseFull(session, jobs, outcomes, call);
  const groups = new Map<string, Group>();
  for (const [index, job] of jobs.entries()) {
    if (outcomes[index] !== null) continue;
    const { id } = job;
    const group = groupOf(groups, job);
    if (group.ids.has(id)) {
      outcomes[index] = { status: 'duplicate', id, of: id };
      continue;
    }
    group.ids.add(id);
    group.items.push({ index, job });
    if (job.delayMs > group.longest.delayMs) group.longest = job;
  }
  await send(session, groups, outcomes, call);
  return outcomes.map((outcome, index) => outcome ?? lost(jobs[index]));
}

function groupOf(groups: Map<string, Group>, job: NewJob): Group {
  const known = groups.get(job.queue);
  if (known !== undefined) return known;
  const group = { ids: new Set<string>(), items: [], longest: job };
  groups.set(job.queue, group);
  return group;
}

async function send(
  session: Session,
  groups: ReadonlyMap<string, Group>,
  outcomes: (EnqueueOutcome | null)[],
  call: Call,
): Promise<void> {
  const able: Item[][] = [];
  // One queue that cannot be made fails its own jobs only.
  await Promise.all(
    [...groups].map(async ([queue, { items, longest }]) => {
      const error = await session.moves.prepare([{ queue, target: targetOf(longest) }], call);
      if (error === null) able.push(items);
      else for (const { index, job } of items) outcomes[index] = { status: 'rejected', id: job.id, error };
    }),
  );
  const items = able.length === 1 ? (able[0] ?? []) : able.flat().sort((a, b) => a.index - b.index);
  if (items.length === 0) return;
  const published = await publishInParts(session, items, call);
  for (const [place, { index, job }] of items.entries()) {
    const result = published[place];
    if (result === undefined) continue;
    if (result.status === 'stored') outcomes[index] = { status: 'accepted', id: job.id };
    else if (result.status === 'unknown')
      outcomes[index] = { status: 'unknown', id: job.id, error: result.error };
    else {
      if (result.unroutable) session.topology.forget(job.queue);
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
      .map(({ job }) => session.moves.outgoing(job.queue, encodeNew(job, now), targetOf(job)));
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

const READY: Target = Object.freeze({ to: 'ready' });

function targetOf({ delayMs }: NewJob): Target {
  return delayMs > 0 ? { to: 'later', delayMs } : READY;
}

function assertBatch({ capabilities }: Context, sizes: readonly number[]): void {
  const { maxItems, maxBytes } = capabilities.batch;
  if (sizes.length > maxItems) {
    throw failure('LIMIT_EXCEEDED', `A batch of ${sizes.length} jobs is more than ${maxItems}.`, 'enqueue');
  }
  let sum = 0;
  for (const bytes of sizes) if (bytes <= capabilities.payload.maxBytes) sum += bytes;
  if (sum > maxBytes)
    throw failure('LIMIT_EXCEEDED', `A batch of ${sum} bytes is more than ${maxBytes}.`, 'enqueue');
}

function lost(job: NewJob | undefined): EnqueueOutcome {
  const error = failure('OUTCOME_UNKNOWN', 'The outcome of an item was lost.', 'enqueue');
  return { status: 'unknown', id: job?.id ?? '', error };
}
