import assert from 'node:assert/strict';
import type { Backend } from '@surety/core/contract';
import { type Case, define, unless } from '../case.ts';
import type { Context } from '../context.ts';
import { deadLetter, everyOnce, idsOf } from './expectations.ts';

/** G9: pause and resume. */
export const pacingCases: readonly Case[] = [
  define({
    id: 'G9.1/hands-out-nothing',
    title: 'a paused queue hands out nothing and says so; running jobs finish; resume gives all back',
    covers: ['B113'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const [queue, other] = [ctx.freshQueue(), ctx.freshQueue()];
      await ctx.put(backend, queue, 3);
      const running = await ctx.claimOne(backend, queue);
      await backend.pacing.pause(queue, ctx.call);
      assert.deepEqual(await backend.pacing.state(queue, ctx.call), { paused: true });
      await saysPaused(ctx, backend, queue, 0);
      const jobs = await ctx.put(backend, queue, 2);
      const [renewed] = await backend.renew([running], ctx.leaseMs, ctx.call);
      assert.equal(renewed?.status, 'renewed');
      await ctx.complete(backend, running);
      assert.deepEqual(await backend.pacing.state(other, ctx.call), { paused: false });
      await ctx.put(backend, other);
      assert.equal((await ctx.claimOne(backend, other)).queue, other);
      await backend.pacing.resume(queue, ctx.call);
      assert.deepEqual(await backend.pacing.state(queue, ctx.call), { paused: false });
      const leases = await ctx.claimAll(backend, queue, 4);
      assert.ok(jobs.every(({ id }) => idsOf(leases).includes(id)));
      assert.equal((await ctx.claim(backend, queue)).paused, false);
    },
  }),
  define({
    id: 'G9.1/waiting-claims',
    title: 'a claim that waits when the queue is paused ends without a job within the bound',
    covers: ['B113'],
    async run(ctx) {
      const [waiter, operator] = [await ctx.openBackend(), await ctx.openBackend()];
      const queue = ctx.freshQueue();
      const boundMs = ctx.capabilities.pacing.boundMs;
      const abort = new AbortController();
      const waiting = ctx.claim(waiter, queue, { waitMs: 60_000, signal: abort.signal });
      await ctx.passTime(100);
      await operator.pacing.pause(queue, ctx.call);
      await ctx.passTime(boundMs + 50);
      await ctx.put(operator, queue, 3);
      // It need not have ended, but it may not bring a job any more.
      abort.abort();
      const { value: answer } = await ctx.within('the claim', ctx.capabilities.stopBoundMs + 5000, waiting);
      assert.deepEqual(idsOf(answer.leases), [], 'a claim opened before the pause brought a job after it');
    },
  }),
  define({
    id: 'G9.1/paused-claims-answer-at-once',
    title: 'a long poll on a paused queue does not wait out its time',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await backend.pacing.pause(queue, ctx.call);
      await saysPaused(ctx, backend, queue, 60_000);
    },
  }),
  define({
    id: 'G9.2/in-every-process',
    title: 'a pause holds on every connection within its bound, and outlives who made it',
    covers: ['B113'],
    async run(ctx) {
      const [operator, ...workers] = await ctx.rivals(4);
      assert.ok(operator);
      const queue = ctx.freshQueue();
      await ctx.put(operator, queue, 5);
      for (const worker of workers) await ctx.claim(worker, ctx.freshQueue());
      await operator.pacing.pause(queue, ctx.call);
      await ctx.claimNone(operator, queue, 'this backend paused it');
      await ctx.passTime(ctx.capabilities.pacing.boundMs);
      await operator.close({ graceMs: 1000 });
      for (const worker of workers) {
        await ctx.claimNone(worker, queue, 'it is paused');
        assert.deepEqual(await worker.pacing.state(queue, ctx.call), { paused: true });
      }
      const late = await ctx.openBackend();
      await ctx.claimNone(late, queue, 'it was paused before this one opened');
      await late.pacing.resume(queue, ctx.call);
      await ctx.passTime(ctx.capabilities.pacing.boundMs);
      const [worker] = workers;
      assert.ok(worker);
      await ctx.claimAll(worker, queue, 5);
    },
  }),
  define({
    id: 'G9.2/other-process',
    title: 'a pause holds in a process that was working on the queue',
    covers: ['B113'],
    hooks: ['child'],
    async run(ctx) {
      const operator = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(operator, queue, 5);
      const worker = await ctx.child();
      await worker.call('drainLoop', { queue, max: 1, leaseMs: ctx.leaseMs });
      await ctx.eventually(async () => worker.ids('settled').length >= 5, {
        what: 'the child works',
        withinMs: 20_000,
      });
      await operator.pacing.pause(queue, ctx.call);
      await ctx.passTime(ctx.capabilities.pacing.boundMs + 100);
      const before = worker.ids('claimed').length;
      await ctx.put(operator, queue, 5);
      await ctx.never(async () => worker.ids('claimed').length > before, {
        what: 'a claim of a paused queue',
        forMs: 1000,
      });
      await operator.pacing.resume(queue, ctx.call);
      await ctx.eventually(async () => worker.ids('settled').length >= 10, {
        what: 'work goes on',
        withinMs: 20_000,
      });
    },
  }),
  define({
    id: 'G9.2/often-is-once',
    title: 'pausing twice needs one resume; resuming what runs, and pausing what is unknown, is harmless',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await backend.pacing.resume(queue, ctx.call);
      await backend.pacing.pause(queue, ctx.call);
      await backend.pacing.pause(queue, ctx.call);
      await ctx.put(backend, queue);
      await ctx.claimNone(backend, queue, 'it was paused before its first job');
      await backend.pacing.resume(queue, ctx.call);
      await backend.pacing.resume(queue, ctx.call);
      await ctx.claimOne(backend, queue);
    },
  }),
  define({
    id: 'G9.3/five-moves',
    title: 'enqueue, due time, redrive, retry and loss during a pause: all five run once after resume',
    covers: ['B111'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const [dead] = await ctx.dead(backend, queue);
      const [lost, failed] = await ctx.put(backend, queue, 2);
      assert.ok(dead && lost && failed);
      const held = await ctx.claimAll(backend, queue, 2, { leaseMs: Math.max(2000, ctx.shortLeaseMs) });
      const failing = held.find(({ id }) => id === failed.id);
      assert.ok(failing);
      await backend.pacing.pause(queue, ctx.call);
      await ctx.retry(backend, failing, Math.min(300, ctx.capabilities.delay.maxMs));
      const [enqueued] = await ctx.put(backend, queue);
      const [delayed] = await ctx.put(backend, queue, 1, {
        delayMs: Math.min(500, ctx.capabilities.delay.maxMs),
      });
      await deadLetter(ctx, backend, queue, dead.id);
      await backend.deadLetters.redrive(queue, { ids: [dead.id] }, ctx.call);
      await ctx.passTime(Math.max(2000, ctx.shortLeaseMs) + ctx.capabilities.delay.granularityMs);
      await ctx.claimNone(backend, queue, 'it is paused');
      await backend.pacing.resume(queue, ctx.call);
      await ctx.passTime(ctx.capabilities.pacing.boundMs);
      assert.ok(enqueued && delayed);
      const all = [dead, lost, failed, enqueued, delayed];
      const leases = await ctx.claimAll(backend, queue, 5, { withinMs: ctx.reclaimMs + 10_000 });
      everyOnce(idsOf(all), idsOf(leases), ctx.capabilities);
      await ctx.complete(backend, ...leases);
      await ctx.claimNone(backend, queue, 'all five ran');
    },
  }),
  define({
    id: 'G9.3/counted-meanwhile',
    title: 'during a pause due jobs and ended leases go on to count as ready',
    needs: (c) => unless(c.counts.ready === 'exact', 'ready jobs are not counted exactly'),
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      await ctx.claimOne(backend, queue, { leaseMs: ctx.shortLeaseMs });
      await backend.pacing.pause(queue, ctx.call);
      await ctx.put(backend, queue, 1, { delayMs: 200 });
      await ctx.passTime(ctx.shortLeaseMs + 200 + ctx.capabilities.delay.granularityMs);
      const counts = await backend.counts(queue, ctx.call);
      // Where leased jobs cannot be counted there is no figure.
      assert.deepEqual([counts.ready.value, counts.scheduled.value, counts.leased.value ?? 0], [2, 0, 0]);
    },
  }),
];

/** Claims three times: no job ever comes, no call waits, and the pause is told (a false empty answer may hide it once). */
async function saysPaused(ctx: Context, backend: Backend, queue: string, waitMs: number): Promise<void> {
  let told = 0;
  for (let n = 0; n < 12 && told < 3; n++) {
    const asking = ctx.claim(backend, queue, { max: 5, waitMs });
    const { value: answer } = await ctx.within('a claim of a paused queue', 10_000, asking);
    assert.deepEqual(answer.leases, [], 'a job of a paused queue');
    if (answer.paused) told++;
    else assert.equal(ctx.capabilities.moves, 'copy', 'the pause was not told');
  }
  assert.equal(told, 3, 'the pause was told');
}
