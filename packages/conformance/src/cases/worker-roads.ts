import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AttemptEvent, type JobContext, PermanentError } from '@surety/core';
import { type Case, define } from '../case.ts';
import { allDead, deadLetter, everyOnce, idsOf, isUntold, lose } from './expectations.ts';
import { withWorkers, workerLease } from './worker-leases.ts';

/** Core's own worker on the backend: how jobs end, and pauses. */
export const workerRoadCases: readonly Case[] = [
  define({
    id: 'G6.6/every-road',
    title:
      'failure, permanent failure, timeout, burial, expiry, lost workers and unreadable payloads each end in one dead letter',
    covers: ['B067'],
    async run(ctx) {
      const queue = ctx.freshQueue();
      const backend = await ctx.openBackend();
      const put = async (type: string, overrides = {}): Promise<string> => {
        const [job] = await ctx.put(backend, queue, 1, { type, maxAttempts: 2, ...overrides });
        return job?.id ?? '';
      };
      // Before any worker: two lost claims of a job that has two attempts.
      const lost = await put('ok');
      await lose(ctx, backend, queue);
      await lose(ctx, backend, queue);
      const expected = new Map<string, string>([
        [lost, 'WORKER_LOST'],
        [await put('throws'), 'HANDLER_FAILED'],
        [await put('permanent'), 'PERMANENT_FAILURE'],
        [await put('slow'), 'TIMEOUT'],
        [await put('buries'), 'BURIED'],
        [await put('ok', { expiresInMs: 1 }), 'EXPIRED'],
      ]);
      if (ctx.harness.corruptPayload) {
        const corrupt = await put('ok');
        const how = await ctx.harness.corruptPayload(queue, corrupt);
        if (how === 'written') expected.set(corrupt, 'PAYLOAD_CORRUPT');
      }
      await ctx.passTime(50);
      const deaths: AttemptEvent[] = [];
      // Where a move is a copy its answer may be lost: the job is among the dead, and the worker cannot tell.
      const exact = ctx.capabilities.moves === 'atomic';
      await withWorkers(ctx, async (start) => {
        await start({
          queue,
          leaseMs: ctx.leaseMs,
          timeoutMs: 200,
          graceMs: 100,
          onDead: (event) => void deaths.push(event),
          handlers: {
            ok: () => undefined,
            throws() {
              throw new TypeError('broken');
            },
            permanent() {
              throw new PermanentError('never');
            },
            slow: (job: JobContext) => sleep(60_000, undefined, { signal: job.signal }),
            buries: (job: JobContext) => job.bury('no use'),
          },
        });
        const arrived = async (): Promise<number> =>
          exact ? deaths.length : (await allDead(ctx, backend, queue)).length;
        await ctx.eventually(async () => (await arrived()) >= expected.size, {
          what: 'all die',
          withinMs: 30_000,
        });
      });
      const told = new Map(deaths.map(({ jobId, code }) => [jobId, code]));
      if (exact) assert.deepEqual(told, expected, 'events of death');
      for (const [id, code] of told) assert.equal(code, expected.get(id), 'event of a death');
      assert.equal(deaths.length, told.size, 'one event for each death');
      for (const [id, reason] of expected) {
        const dead = await deadLetter(ctx, backend, queue, id);
        assert.equal(dead.reason, reason);
        assert.equal(dead.lastError?.code, reason);
      }
      everyOnce([...expected.keys()], idsOf(await allDead(ctx, backend, queue)), ctx.capabilities);
    },
  }),
  define({
    id: 'G4.7/rolling-deploy',
    title: 'a worker that does not know a type puts it back unspent; a newer one runs all of them',
    covers: ['B048'],
    cost: 'slow',
    run: (ctx) =>
      withWorkers(ctx, async (start) => {
        const queue = ctx.freshQueue();
        const producer = await ctx.openBackend();
        const seen: string[] = [];
        const old = await start({
          queue,
          leaseMs: workerLease(ctx),
          handlers: { a: (job) => void seen.push(job.type) },
        });
        const released = new Set<string>();
        old.on('attempt', ({ jobId, outcome }) => {
          if (outcome === 'released' || isUntold(ctx, outcome)) released.add(jobId);
          else seen.push(outcome);
        });
        const jobs = await ctx.put(producer, queue, 20, { type: 'b' });
        // Released or still in the queue: none may end.
        await ctx.never(async () => seen.length > 0, { what: 'an end of an unknown type', forMs: 2000 });
        const attempts = new Map<string, number>();
        const b = (job: JobContext): void => void attempts.set(job.id, job.attempt);
        await start({ queue, leaseMs: workerLease(ctx), handlers: { a: () => undefined, b } });
        // The deploy goes on: while both run, the old one puts back with growing delays what it meets.
        await old.stop({ drain: 0 });
        await ctx.eventually(async () => attempts.size === 20, {
          what: 'the new worker runs all',
          withinMs: 60_000,
        });
        assert.deepEqual([...attempts.keys()].toSorted(), idsOf(jobs).toSorted());
        if (ctx.capabilities.attempts === 'exact')
          assert.ok(
            [...attempts.values()].every((n) => n === 1),
            'attempts were spent',
          );
        assert.deepEqual(await allDead(ctx, producer, queue), []);
      }),
  }),
  define({
    id: 'G9.1/worker-starts-nothing',
    title: 'after pause has resolved and its bound has passed, a worker starts nothing until resume',
    covers: ['B113'],
    run: (ctx) =>
      withWorkers(ctx, async (start) => {
        const queue = ctx.freshQueue();
        const operator = await ctx.openBackend();
        const started: string[] = [];
        const task = (job: JobContext): void => void started.push(job.id);
        for (let n = 0; n < 2; n++) await start({ queue, leaseMs: workerLease(ctx), handlers: { task } });
        const first = await ctx.put(operator, queue, 3, { type: 'task' });
        await ctx.eventually(async () => started.length === 3, {
          what: 'the workers are at work',
          withinMs: 15_000,
        });
        await operator.pacing.pause(queue, ctx.call);
        await ctx.passTime(ctx.capabilities.pacing.boundMs);
        const jobs = await ctx.put(operator, queue, 20, { type: 'task' });
        await ctx.never(async () => started.length > 3, { what: 'a start in a paused queue', forMs: 2000 });
        await operator.pacing.resume(queue, ctx.call);
        await ctx.eventually(async () => new Set(started).size === 23, {
          what: 'all run after resume',
          withinMs: ctx.capabilities.pacing.boundMs + 20_000,
        });
        everyOnce(idsOf([...first, ...jobs]), started, ctx.capabilities);
      }),
  }),
  define({
    id: 'G9.3/worker-after-pause',
    title: 'what moved during a pause is run once each by the worker after resume',
    covers: ['B111'],
    run: (ctx) =>
      withWorkers(ctx, async (start) => {
        const queue = ctx.freshQueue();
        const operator = await ctx.openBackend();
        const [dead] = await ctx.dead(operator, queue, 1, { type: 'task' });
        const [lost] = await ctx.put(operator, queue, 1, { type: 'task' });
        assert.ok(dead && lost);
        await ctx.claimOne(operator, queue, { leaseMs: ctx.shortLeaseMs });
        await operator.pacing.pause(queue, ctx.call);
        const started: string[] = [];
        const task = (job: JobContext): void => void started.push(job.id);
        await start({ queue, leaseMs: workerLease(ctx), handlers: { task } });
        const others = await ctx.put(operator, queue, 2, {
          type: 'task',
          delayMs: Math.min(300, ctx.capabilities.delay.maxMs),
        });
        await deadLetter(ctx, operator, queue, dead.id);
        await operator.deadLetters.redrive(queue, { ids: [dead.id] }, ctx.call);
        await ctx.passLease(ctx.shortLeaseMs + ctx.capabilities.delay.granularityMs);
        await operator.pacing.resume(queue, ctx.call);
        await ctx.eventually(async () => new Set(started).size === 4, {
          what: 'all four run',
          withinMs: ctx.capabilities.pacing.boundMs + ctx.reclaimMs + 20_000,
        });
        everyOnce(idsOf([dead, lost, ...others]), started, ctx.capabilities);
      }),
  }),
];
