import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@surety/core';
import { SuretyError } from '@surety/core/errors';
import { type Case, define, unless } from '../case.ts';
import { override } from '../stage/override.ts';
import { idsOf } from './expectations.ts';
import { withWorkers, workerLease } from './worker-leases.ts';

/** From the return of the store to the first job. */
const PICK_UP_MS = 15_000;

/** Core's own worker on the backend: starting, stopping, faults. */
export const workerLifeCases: readonly Case[] = [
  define({
    id: 'G10.5/deploys-burn-nothing',
    title:
      'five orderly stops in the middle of a job: it is alive, uncharged, and its interruptions are counted',
    covers: ['B039'],
    async run(ctx) {
      const queue = ctx.freshQueue();
      const observer = await ctx.openBackend();
      await ctx.put(observer, queue, 1, { type: 'task', maxAttempts: 3 });
      const attempts: number[] = [];
      for (let deploy = 0; deploy < 5; deploy++) {
        await withWorkers(ctx, async (start) => {
          let running = false;
          const worker = await start({
            queue,
            leaseMs: ctx.leaseMs,
            graceMs: 100,
            handlers: {
              async task(job) {
                attempts.push(job.attempt);
                running = true;
                // Longer than any stop waits; ends with the process of the case at the latest.
                await sleep(600_000, undefined, { ref: false });
              },
            },
          });
          await ctx.eventually(async () => running, { what: `start ${deploy + 1}`, withinMs: 15_000 });
          const { value: report } = await ctx.within('stop', 10_000, worker.stop({ drain: 100, grace: 100 }));
          // Where a move is a copy its answer may be lost: the job is handed back, and the worker does not know.
          if (ctx.capabilities.moves === 'atomic') assert.equal(report.released, 1, 'jobs handed back');
        });
      }
      assert.deepEqual(attempts, [1, 1, 1, 1, 1], 'attempt at each start');
      const lease = await ctx.claimOne(observer, queue);
      assert.deepEqual([lease.attempt, lease.interruptions, lease.lostClaims], [1, 5, 0]);
      await ctx.complete(observer, lease);
    },
  }),
  define({
    id: 'G10.2/idle-worker-stops',
    title: 'an idle worker in its long poll stops at once, starts again, and then works each job once',
    covers: ['B042'],
    run: (ctx) =>
      withWorkers(ctx, async (start) => {
        const queue = ctx.freshQueue();
        const ran: string[] = [];
        const task = (job: { readonly id: string }): void => void ran.push(job.id);
        const backend = ctx.makeBackend();
        // The backend is closed with its last user: a client keeps it open while the worker rests.
        await using client = createClient({ backend });
        await client.start();
        const worker = await start({ queue, leaseMs: ctx.leaseMs, handlers: { task } }, backend);
        const boundMs = ctx.capabilities.stopBoundMs + 3000;
        for (let round = 0; round < 4; round++) {
          await ctx.passTime(50);
          const { value: report } = await ctx.within(
            'stop of an idle worker',
            boundMs,
            worker.stop({ drain: 30_000 }),
          );
          assert.deepEqual(report, { finished: 0, released: 0, abandoned: 0 });
          await worker.start();
        }
        const jobs = await ctx.put(await ctx.openBackend(), queue, 5, { type: 'task' });
        await ctx.eventually(async () => ran.length >= 5, { what: 'the jobs run', withinMs: 15_000 });
        assert.deepEqual(ran.toSorted(), idsOf(jobs).toSorted());
      }),
  }),
  define({
    id: 'G10.3/odd-errors',
    title: 'whatever error a claim throws, the worker says so, lives, and goes on',
    covers: ['B024'],
    run: (ctx) =>
      withWorkers(ctx, async (start) => {
        const queue = ctx.freshQueue();
        const backend = ctx.makeBackend();
        const errors: readonly unknown[] = [
          new SuretyError('BACKEND_UNAVAILABLE', 'reset'),
          Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }),
          new SuretyError('BACKEND_OVERLOADED', 'throttled'),
          { garbage: true },
          undefined,
        ];
        let failing: unknown[] = [];
        const fail = (): void => {
          if (failing.length > 0) throw failing.shift();
        };
        const flaky = override(backend, {
          // Thrown at the call itself, not from its promise: an adapter's bug may do that too.
          claim: (request) => (fail(), backend.claim(request)),
          ...(backend.settleAndClaim && {
            settleAndClaim: (settlements, request) =>
              (fail(), backend.settleAndClaim?.(settlements, request)) as never,
          }),
        });
        let ran = 0;
        const worker = await start(
          { queue, leaseMs: workerLease(ctx), handlers: { task: () => void ran++ } },
          flaky,
        );
        let degraded = 0;
        worker.on('degraded', () => void degraded++);
        const producer = await ctx.openBackend();
        for (const [index, error] of errors.entries()) {
          failing = [error];
          await ctx.put(producer, queue, 1, { type: 'task' });
          await ctx.eventually(async () => failing.length === 0 && ran === index + 1, {
            what: `work goes on after error ${index}`,
            withinMs: 20_000,
          });
        }
        assert.ok(degraded > 0, 'nobody was told');
        await ctx.eventually(async () => worker.health().ok, { what: 'healthy again', withinMs: 10_000 });
      }),
  }),
  define({
    id: 'G10.3/worker-over-restarts',
    title:
      'an idle worker picks up work after the store was stopped and started, three times and twice at once',
    covers: ['B025'],
    hooks: ['server'],
    cost: 'slow',
    run: (ctx) =>
      withWorkers(ctx, async (start) => {
        const queue = ctx.freshQueue();
        const ran = new Set<string>();
        const task = (job: { readonly id: string }): void => void ran.add(job.id);
        await start({ queue, leaseMs: workerLease(ctx), handlers: { task } });
        for (const drops of [1, 1, 2]) {
          for (let drop = 0; drop < drops; drop++) {
            await ctx.harness.server?.stop();
            await ctx.passTime(1000);
            await ctx.harness.server?.start();
          }
          const producer = await ctx.openBackend();
          const jobs = await ctx.put(producer, queue, 20, { type: 'task' });
          await ctx.eventually(async () => jobs.every(({ id }) => ran.has(id)), {
            what: 'the worker is at work again',
            withinMs: PICK_UP_MS + 5000,
          });
        }
      }),
  }),
  define({
    id: 'G10.4/renewals-fail',
    title:
      'a worker whose renewals fail is unhealthy, tells its handlers, claims nothing, and recovers by itself',
    covers: ['B030'],
    run: (ctx) =>
      withWorkers(ctx, async (start) => {
        const queue = ctx.freshQueue();
        const backend = ctx.makeBackend();
        const leaseMs = workerLease(ctx);
        let broken = true;
        const blind = override(backend, {
          async renew(leases, ms, options) {
            if (broken) throw new SuretyError('BACKEND_UNAVAILABLE', 'No renewal.');
            return backend.renew(leases, ms, options);
          },
        });
        const started: string[] = [];
        let told = 0;
        const worker = await start(
          {
            queue,
            leaseMs,
            concurrency: 2,
            handlers: {
              async long(job) {
                started.push(job.id);
                if (started.length > 1) return;
                await sleep(leaseMs * 4, undefined, { signal: job.signal }).catch(() => void told++);
              },
              quick: (job) => void started.push(job.id),
            },
          },
          blind,
        );
        const producer = await ctx.openBackend();
        await ctx.put(producer, queue, 1, { type: 'long' });
        await ctx.eventually(async () => !worker.health().ok, {
          what: 'unhealthy',
          withinMs: leaseMs * 2 + 10_000,
        });
        assert.ok((worker.health().reason ?? '').length > 0, 'without a reason');
        await ctx.eventually(async () => told === 1, {
          what: 'the handler is told',
          withinMs: leaseMs * 2 + 10_000,
        });
        broken = false;
        await ctx.put(producer, queue, 3, { type: 'quick' });
        await ctx.eventually(async () => worker.health().ok && new Set(started).size === 4, {
          what: 'recovered and at work',
          withinMs: leaseMs * 3 + ctx.reclaimMs + 20_000,
        });
      }),
  }),
  define({
    id: 'G10.2/stops-while-away',
    title: 'with the network gone, idle or with a running job, stop ends within drain and grace',
    covers: ['B038'],
    hooks: ['network'],
    async run(ctx) {
      for (const busy of [false, true]) {
        const network = await ctx.openNetwork();
        const queue = ctx.freshQueue();
        let running = false;
        await withWorkers(ctx, async (start) => {
          const task = async (): Promise<void> => {
            running = true;
            await sleep(600_000, undefined, { ref: false });
          };
          const worker = await start({ queue, leaseMs: ctx.leaseMs, handlers: { task } }, network.backend);
          if (busy) await ctx.put(await ctx.openBackend(), queue, 1, { type: 'task' });
          await ctx.eventually(async () => running === busy, { what: 'the job runs', withinMs: 15_000 });
          await network.isolate();
          const stopping = worker.stop({ drain: 500, grace: 500 });
          const { value: report } = await ctx.within(
            'stop',
            1000 + ctx.capabilities.stopBoundMs + 6000,
            stopping,
          );
          assert.equal(report.finished, 0);
          if (busy) assert.equal(report.released + report.abandoned, 1, JSON.stringify(report));
        });
      }
    },
  }),
  define({
    id: 'G10.2/stops-never-connected',
    title:
      'a worker that never reached its store starts without an error that waiting mends, and stops in time',
    covers: ['B038'],
    needs: (c) => unless(c.durability !== 'memory', 'the store lives in the process: it has no address'),
    async run(ctx) {
      await withWorkers(ctx, async (start) => {
        const unreachable = ctx.makeBackend({ unreachable: true });
        const setup = { queue: ctx.freshQueue(), leaseMs: ctx.leaseMs, handlers: { task: () => undefined } };
        const starting = start(setup, unreachable).catch(() => null);
        const { value: worker } = await ctx.within('start', 20_000, starting);
        if (worker === null) return;
        assert.equal(worker.health().ok, false);
        await ctx.within(
          'stop',
          ctx.capabilities.stopBoundMs + 6000,
          worker.stop({ drain: 1000, grace: 500 }),
        );
      });
    },
  }),
];
