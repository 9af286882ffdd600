import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from '@surety/core';
import { AbortReason } from '@surety/core';
import { type Case, define } from '../case.ts';
import type { Context } from '../context.ts';
import { makeWorker } from '../stage/workers.ts';
import { deadLetter, everyOnce, expectCounts, idsOf, isUntold } from './expectations.ts';

/** Core's own worker on the backend: leases that end under it. */
export const workerLeaseCases: readonly Case[] = [
  define({
    id: 'G2.10/worker-killed',
    title: 'a worker killed with five handlers running: a second one ends all twenty jobs',
    covers: ['B002'],
    hooks: ['child'],
    async run(ctx) {
      const queue = ctx.freshQueue();
      const backend = await ctx.openBackend();
      const jobs = await ctx.put(backend, queue, 20, { type: 'task' });
      const order = {
        queue,
        types: ['task'],
        exitOn: [],
        concurrency: 5,
        leaseMs: workerLease(ctx),
        maxAttempts: 8,
      };
      const first = await ctx.child({ open: false });
      await first.call('work', { ...order, handlerMs: 600_000 });
      await ctx.eventually(async () => first.ids('started').length === 5, {
        what: 'five are running',
        withinMs: 30_000,
      });
      await first.kill();
      const second = await ctx.child({ open: false });
      await second.call('work', { ...order, handlerMs: 5 });
      await ctx.eventually(async () => new Set(second.ids('ended')).size === 20, {
        what: 'all twenty end',
        withinMs: workerLease(ctx) + ctx.reclaimMs + 30_000,
      });
      everyOnce(idsOf(jobs), second.ids('ended'), ctx.capabilities);
      await ctx.eventually(
        async () => {
          const { ready, leased } = await backend.counts(queue, ctx.call);
          return (ready.value ?? 0) + (leased.value ?? 0) === 0;
        },
        { what: 'the queue is empty', withinMs: 10_000 },
      );
    },
  }),
  define({
    id: 'G2.3/handler-outlives-lease',
    title: 'a handler four times as long as its lease runs once while two workers serve the queue',
    covers: ['B012'],
    run: (ctx) =>
      withWorkers(ctx, async (start) => {
        const queue = ctx.freshQueue();
        const leaseMs = workerLease(ctx);
        const attempts: number[] = [];
        let ended = 0;
        const task = async (job: { readonly attempt: number }): Promise<void> => {
          attempts.push(job.attempt);
          await sleep(leaseMs * 4);
          ended++;
        };
        for (let n = 0; n < 2; n++) await start({ queue, leaseMs, handlers: { task } });
        await ctx.put(await ctx.openBackend(), queue, 1, { type: 'task' });
        await ctx.eventually(async () => ended > 0, {
          what: 'the handler ends',
          withinMs: leaseMs * 4 + 15_000,
        });
        assert.deepEqual(attempts, [1], 'starts, by attempt');
      }),
  }),
  define({
    id: 'G2.5/blocked-event-loop',
    title:
      'a handler that blocks past its lease learns of the loss; its result is refused, the second run decides',
    covers: ['B013'],
    alone: true,
    run: (ctx) =>
      withWorkers(ctx, async (start) => {
        const queue = ctx.freshQueue();
        const leaseMs = workerLease(ctx);
        const kinds: string[] = [];
        const blocked: number[] = [];
        const outcomes: string[] = [];
        const worker = await start({
          queue,
          leaseMs,
          concurrency: 1,
          handlers: {
            async task(job) {
              if (job.attempt > 1) return;
              const until = performance.now() + leaseMs * 2;
              while (performance.now() < until);
              if (ctx.harness.advance) await ctx.passTime(leaseMs * 2);
              await sleep(1);
              kinds.push(job.signal.aborted ? kindOf(job.signal.reason) : 'not aborted');
            },
          },
        });
        worker.on('lease-lost', (event) => void blocked.push(event.loopBlockedMs));
        worker.on(
          'attempt',
          ({ outcome }) => void outcomes.push(isUntold(ctx, outcome) ? 'completed' : outcome),
        );
        await ctx.put(await ctx.openBackend(), queue, 1, { type: 'task' });
        await ctx.eventually(async () => outcomes.includes('completed'), {
          what: 'the second run ends the job',
          withinMs: leaseMs * 3 + ctx.reclaimMs + 20_000,
        });
        assert.deepEqual(kinds, ['lease-lost']);
        assert.deepEqual(outcomes.toSorted(), ['completed', 'lease-lost']);
        assert.ok((blocked[0] ?? 0) >= leaseMs, `told of ${blocked[0]} ms of a blocked loop`);
      }),
  }),
  define({
    id: 'G2.5/timed-out-handler',
    title: 'a handler that ignores its timeout keeps its slot; its late result changes nothing',
    covers: ['B016'],
    run: (ctx) =>
      withWorkers(ctx, async (start) => {
        const queue = ctx.freshQueue();
        let live = 0;
        let most = 0;
        const kinds: string[] = [];
        const outcomes: string[] = [];
        const zombies: string[] = [];
        const worker = await start({
          queue,
          leaseMs: ctx.leaseMs,
          concurrency: 1,
          timeoutMs: 300,
          graceMs: 200,
          handlers: {
            async task(job) {
              most = Math.max(most, ++live);
              if (job.attempt === 1) {
                job.signal.addEventListener('abort', () => void kinds.push(kindOf(job.signal.reason)));
                await sleep(2000);
              }
              live--;
            },
          },
        });
        worker.on(
          'attempt',
          ({ attempt, outcome, code }) =>
            void outcomes.push(
              isUntold(ctx, outcome) ? `${attempt} untold` : `${attempt} ${outcome} ${code}`,
            ),
        );
        worker.on('zombie', (event) => void zombies.push(event.state));
        await ctx.put(await ctx.openBackend(), queue, 1, { type: 'task' });
        await ctx.eventually(async () => outcomes.length >= 2, { what: 'the retry ends', withinMs: 30_000 });
        assert.equal(most, 1, 'handlers alive at once');
        assert.deepEqual(kinds, ['timeout']);
        const ends = ['1 retried TIMEOUT', '2 completed null'];
        assert.deepEqual(
          outcomes,
          ends.map((end, index) => (outcomes[index] === `${index + 1} untold` ? outcomes[index] : end)),
        );
        assert.deepEqual(zombies, ['running', 'ended']);
      }),
  }),
  define({
    id: 'G4.5/poison',
    title: 'a job that kills its process is buried after its attempts; its neighbours complete',
    covers: ['B046'],
    hooks: ['child'],
    cost: 'slow',
    async run(ctx) {
      const queue = ctx.freshQueue();
      const backend = await ctx.openBackend();
      const [poison] = await ctx.put(backend, queue, 1, { type: 'poison', maxAttempts: 3 });
      const healthy = await ctx.put(backend, queue, 10, { type: 'task' });
      assert.ok(poison);
      const starts: string[] = [];
      const ended = new Set<string>();
      let worker = await ctx.child({ open: false });
      const order = {
        queue,
        types: ['poison', 'task'],
        exitOn: ['poison'],
        handlerMs: 20,
        concurrency: 2,
        leaseMs: workerLease(ctx),
        maxAttempts: 8,
      };
      // The poison may strike before the answer.
      const begin = async (): Promise<void> => {
        await worker.call('work', order).catch((error: unknown) => {
          if (worker.running()) throw error;
        });
      };
      await begin();
      // The supervisor: a worker that died is replaced.
      await ctx.eventually(
        async () => {
          if (!worker.running()) {
            starts.push(...worker.ids('started').filter((id) => id === poison.id));
            for (const id of worker.ids('ended')) ended.add(id);
            worker = await ctx.child({ open: false });
            await begin();
          }
          for (const id of worker.ids('ended')) ended.add(id);
          return ended.size === 10 && (await backend.deadLetters.show(queue, poison.id, ctx.call)) !== null;
        },
        { what: 'the poison is buried and the healthy ones end', withinMs: 150_000, everyMs: 100 },
      );
      everyOnce(idsOf(healthy), [...ended], ctx.capabilities);
      assert.equal((await deadLetter(ctx, backend, queue, poison.id)).reason, 'WORKER_LOST');
      if (ctx.capabilities.attempts === 'exact')
        assert.equal(starts.length, 3, 'starts of a job with three attempts');
      else assert.ok(starts.length <= 3 && starts.length > 0, `${starts.length} starts`);
      await expectCounts(ctx, backend, queue, { dead: 1 });
    },
  }),
];

function kindOf(reason: unknown): string {
  return reason instanceof AbortReason ? reason.kind : String(reason);
}

/** Short, but renewed in time on a busy machine. */
export function workerLease(ctx: Context): number {
  return Math.min(
    Math.max(2000, ctx.capabilities.lease.minMs, ctx.capabilities.lease.marginMs * 4),
    ctx.capabilities.lease.maxMs,
  );
}

/** How a case starts a worker; the stage stops it. */
export type StartWorker = (
  setup: Parameters<typeof makeWorker>[1],
  backend?: Parameters<typeof makeWorker>[0],
) => Promise<Worker>;

/** Runs a case with workers that are stopped after it, whatever happened. Each opens a backend of its own. */
export async function withWorkers(ctx: Context, body: (start: StartWorker) => Promise<void>): Promise<void> {
  const workers: Worker[] = [];
  try {
    await body(async (setup, backend = ctx.makeBackend()) => {
      const worker = makeWorker(backend, setup);
      workers.push(worker);
      await worker.start();
      return worker;
    });
  } finally {
    const stops = workers.map((worker) => worker.stop({ drain: 0, grace: 500 }));
    await ctx.within('the stop of the workers', 20_000, Promise.all(stops));
  }
}
