import assert from 'node:assert/strict';
import type { Backend, EnqueueOutcome, NewJob } from '@surety/core/contract';
import { isSuretyError } from '@surety/core/errors';
import { type Case, define, unless } from '../case.ts';
import type { Context } from '../context.ts';
import { idsOf } from './expectations.ts';

/** The time limit that enqueue is given while the store is away, and what a busy machine may add. */
const LIMIT_MS = 1000;
const SLACK_MS = 1500;

/** G1.2 and G10.3 seen from a producer: the store is away, slow or silent. */
export const storeAwayCases: readonly Case[] = [
  define({
    id: 'G1.2/never-connected',
    title: 'with nothing at the address, open and enqueue end in time and say why',
    covers: ['B037'],
    needs: (c) => unless(c.durability !== 'memory', 'the store lives in the process: it has no address'),
    async run(ctx) {
      const backend = ctx.makeBackend({ unreachable: true });
      const opening = backend.open({ timeoutMs: LIMIT_MS, notify: () => {} });
      const { value: error } = await ctx.within('open', LIMIT_MS + SLACK_MS, reasonOf(opening));
      assert.ok(isSuretyError(error), `open answered ${String(error)}`);
      await endsUnaccepted(ctx, backend, [ctx.newJob(ctx.freshQueue())]);
    },
  }),
  define({
    id: 'G1.2/store-stopped',
    title: 'with the store stopped after use, enqueue ends in time and accepts nothing',
    covers: ['B037', 'B108'],
    hooks: ['server'],
    cost: 'slow',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      await ctx.harness.server?.stop();
      try {
        await endsUnaccepted(ctx, backend, [ctx.newJob(queue)]);
        // Many at once: none may wait in memory for a store that is away.
        await Promise.all(
          Array.from({ length: 200 }, () => endsUnaccepted(ctx, backend, [ctx.newJob(queue)])),
        );
      } finally {
        await ctx.harness.server?.start();
      }
    },
  }),
  define({
    id: 'G1.2/store-frozen',
    title: 'with the store frozen, enqueue ends in time',
    covers: ['B037', 'B026'],
    hooks: ['server'],
    cost: 'slow',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      await ctx.harness.server?.pause();
      try {
        await endsUnaccepted(ctx, backend, [ctx.newJob(queue), ctx.newJob(queue)]);
      } finally {
        await ctx.harness.server?.resume();
      }
    },
  }),
  define({
    id: 'G1.2/isolated',
    title: 'with the network gone, enqueue ends in time and says whether the job may be stored',
    covers: ['B037'],
    hooks: ['network'],
    async run(ctx) {
      const network = await ctx.openNetwork();
      const queue = ctx.freshQueue();
      await ctx.put(network.backend, queue);
      await network.isolate();
      const jobs = [ctx.newJob(queue), ctx.newJob(queue)];
      await endsUnaccepted(ctx, network.backend, jobs);
      await network.heal();
      await settleByRepeating(ctx, network.backend, jobs);
    },
  }),
  define({
    id: 'G1.2/answers-lost',
    title: 'when the answer is lost the outcome is unknown, and repeating by id stores each job once',
    covers: ['B041', 'B037'],
    hooks: ['network'],
    async run(ctx) {
      const network = await ctx.openNetwork();
      const observer = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(network.backend, ctx.freshQueue());
      await network.dropAnswers();
      const jobs = [ctx.newJob(queue), ctx.newJob(queue), ctx.newJob(queue)];
      await endsUnaccepted(ctx, network.backend, jobs);
      await network.heal();
      await settleByRepeating(ctx, network.backend, jobs);
      await onceEach(ctx, observer, queue, jobs);
    },
  }),
  define({
    id: 'G1.2/connections-cut',
    title: 'connections cut again and again while enqueueing: accepted is there, unknown can be repeated',
    covers: ['B041'],
    hooks: ['network'],
    async run(ctx) {
      const network = await ctx.openNetwork();
      const observer = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const jobs: NewJob[] = [];
      for (let round = 0; round < 20; round++) {
        const job = ctx.newJob(queue);
        jobs.push(job);
        const sending = outcomeOf(network.backend, job, 5000);
        if (round % 2 === 0) await network.cut();
        if ((await sending) !== 'accepted') await settleByRepeating(ctx, network.backend, [job]);
      }
      await onceEach(ctx, observer, queue, jobs);
    },
  }),
  define({
    id: 'G1.2/slow-network',
    title: 'a network slower than the time limit does not make a call hang',
    hooks: ['network'],
    async run(ctx) {
      const network = await ctx.openNetwork();
      const queue = ctx.freshQueue();
      await ctx.put(network.backend, queue);
      await network.delay(LIMIT_MS * 3);
      const jobs = [ctx.newJob(queue)];
      await endsUnaccepted(ctx, network.backend, jobs);
      await network.heal();
      await settleByRepeating(ctx, network.backend, jobs);
    },
  }),
];

async function reasonOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'success',
    (error: unknown) => error,
  );
}

/** Ends within its limit; each item rejected or unknown, or the call throws an error with code. */
async function endsUnaccepted(ctx: Context, backend: Backend, jobs: readonly NewJob[]): Promise<void> {
  const work: Promise<readonly EnqueueOutcome[] | { readonly thrown: unknown }> = backend
    .enqueue(jobs, { timeoutMs: LIMIT_MS })
    .catch((thrown: unknown) => ({ thrown }));
  const { value } = await ctx.within('enqueue', LIMIT_MS + SLACK_MS, work);
  if ('thrown' in value) return assert.ok(isSuretyError(value.thrown), `threw ${String(value.thrown)}`);
  assert.deepEqual(idsOf(value), idsOf(jobs));
  for (const outcome of value) {
    assert.ok(
      outcome.status === 'rejected' || outcome.status === 'unknown',
      `the store is away, yet ${outcome.status}`,
    );
    assert.ok(isSuretyError(outcome.error), 'an outcome without an error of ours');
  }
}

async function outcomeOf(backend: Backend, job: NewJob, timeoutMs: number): Promise<string> {
  const outcomes = await backend.enqueue([job], { timeoutMs }).catch(() => []);
  return outcomes[0]?.status ?? 'thrown';
}

async function settleByRepeating(ctx: Context, backend: Backend, jobs: readonly NewJob[]): Promise<void> {
  for (const job of jobs) {
    await ctx.eventually(
      async () => ['accepted', 'duplicate'].includes(await outcomeOf(backend, job, 2000)),
      { what: 'the repeated enqueue is accepted', withinMs: 20_000 },
    );
  }
}

async function onceEach(
  ctx: Context,
  backend: Backend,
  queue: string,
  jobs: readonly NewJob[],
): Promise<void> {
  const leases = await ctx.claimAll(backend, queue, jobs.length);
  const once = ctx.capabilities.moves === 'atomic' && ctx.capabilities.idempotentEnqueue !== 'none';
  if (once) {
    assert.deepEqual(idsOf(leases).toSorted(), idsOf(jobs).toSorted());
    await ctx.claimNone(backend, queue, 'each job was stored once');
  }
}
