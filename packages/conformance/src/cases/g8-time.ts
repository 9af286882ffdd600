import assert from 'node:assert/strict';
import { type Backend, MAX_DELAY_MS } from '@surety/core/contract';
import { type Case, define, unless } from '../case.ts';
import type { Context } from '../context.ts';
import { expectCounts, idsOf } from './expectations.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** What a store and a busy machine may be late beside the granularity. */
const LATE_MS = 3000;

/** G8: when a job is due. */
export const timeCases: readonly Case[] = [
  define({
    id: 'G8.1/wrong-clocks',
    title:
      'a producer three hours ahead and a worker ten minutes behind: delays and leases run on the clock of the store',
    covers: ['B095'],
    hooks: ['child'],
    async run(ctx) {
      const queue = ctx.freshQueue();
      const backend = await ctx.openBackend();
      const [ahead, behind] = [
        await ctx.child({ clockSkewMs: 3 * HOUR_MS }),
        await ctx.child({ clockSkewMs: -10 * 60_000 }),
      ];
      const delayMs = Math.max(2000, ctx.capabilities.delay.granularityMs);
      const from = ctx.now();
      const outcomes = await ahead.call('enqueue', { jobs: [ctx.newJob(queue, { delayMs })] });
      const sent = ctx.now();
      assert.equal(outcomes[0]?.status, 'accepted');
      const leaseMs = Math.max(3000, ctx.shortLeaseMs);
      const claim = async (child = ahead): Promise<boolean> =>
        (await child.call('claim', { queue, max: 1, leaseMs })).length > 0;
      await ctx.eventually(() => claim(behind), { what: 'the job falls due', withinMs: delayMs + LATE_MS });
      const due = ctx.now();
      assert.ok(due - from >= delayMs, `due ${(due - from).toFixed(0)} ms after an enqueue with ${delayMs}`);
      assert.ok(
        due - sent <= delayMs + ctx.capabilities.delay.granularityMs + LATE_MS,
        'due long after its delay',
      );
      // Its lease, held by the one behind, is judged by nobody's clock but the store's.
      await ctx.eventually(() => claim(ahead), {
        what: 'the lease ends',
        withinMs: leaseMs + ctx.reclaimMs + LATE_MS,
      });
      assert.ok(ctx.now() - due >= leaseMs - (2 * delayMs) / 10 - 200, 'a clock ahead took a live lease');
      assert.ok((await backend.counts(queue, ctx.call)).ready.value !== null);
    },
  }),
  define({
    id: 'G8.2/not-before-due',
    title: 'a delayed job is not handed out before it is due, and soon after, whoever asks',
    covers: ['B015'],
    async run(ctx) {
      const rivals = await ctx.rivals(3);
      const [first] = rivals;
      assert.ok(first);
      const queue = ctx.freshQueue();
      const delayMs = Math.min(
        Math.max(1500, ctx.capabilities.delay.granularityMs),
        ctx.capabilities.delay.maxMs,
      );
      const from = ctx.now();
      await ctx.put(first, queue, 3, { delayMs });
      const sent = ctx.now();
      let taken = 0;
      await ctx.eventually(
        async () => {
          for (const rival of rivals) {
            const { leases } = await ctx.claim(rival, queue);
            if (leases.length > 0)
              assert.ok(ctx.now() - from >= delayMs, `${(ctx.now() - from).toFixed(0)} of ${delayMs} ms`);
            for (const lease of leases) assert.equal(lease.attempt, 1);
            taken += leases.length;
          }
          return taken >= 3;
        },
        { what: 'all fall due', withinMs: delayMs + ctx.capabilities.delay.granularityMs + LATE_MS },
      );
      assert.ok(
        ctx.now() - sent <= delayMs + ctx.capabilities.delay.granularityMs + LATE_MS,
        'long after they were due',
      );
    },
  }),
  define({
    id: 'G8.2/order-of-due-times',
    title: 'a long delay holds back no shorter one that was enqueued after it',
    covers: ['B059'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const unit = Math.max(400, 2 * ctx.capabilities.delay.granularityMs);
      const from = ctx.now();
      for (const factor of [500, 2, 4, 1]) {
        const delayMs = Math.min(unit * factor, ctx.capabilities.delay.maxMs);
        await ctx.put(backend, queue, 1, { delayMs, headers: { factor: `${factor}` } });
      }
      const order: string[] = [];
      await ctx.eventually(
        async () => {
          const { leases } = await ctx.claim(backend, queue);
          for (const { headers } of leases) {
            const factor = headers['factor'] ?? '';
            assert.ok(ctx.now() - from >= Number(factor) * unit, `${factor} came before it was due`);
            order.push(factor);
          }
          return order.length === 3;
        },
        { what: 'the three short ones fall due', withinMs: unit * 5 + LATE_MS },
      );
      assert.deepEqual(order, ['1', '2', '4']);
    },
  }),
  define({
    id: 'G8.2/long-poll',
    title: 'a waiting claim gets a job that is enqueued or falls due meanwhile, not before it is due',
    covers: ['B015'],
    async run(ctx) {
      const [worker, producer] = [await ctx.openBackend(), await ctx.openBackend()];
      for (const delayMs of [0, Math.min(1000, ctx.capabilities.delay.maxMs)]) {
        const queue = ctx.freshQueue();
        const waiting = untilCame(ctx, worker, queue);
        const from = ctx.now();
        const [job] = await ctx.put(producer, queue, 1, { delayMs });
        if (ctx.harness.advance) await ctx.passTime(delayMs + ctx.capabilities.delay.granularityMs);
        const { value: lease } = await ctx.within('a waiting claim', delayMs + 20_000, waiting);
        assert.equal(lease.id, job?.id);
        assert.ok(ctx.now() - from >= delayMs, 'handed out before it was due');
        await ctx.complete(worker, lease);
      }
    },
  }),
  define({
    id: 'G8.3/a-year',
    title: 'a delay of a year is kept as such, and one above the limit is refused',
    covers: ['B058', 'B061'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const { maxMs } = ctx.capabilities.delay;
      assert.ok(
        maxMs >= MAX_DELAY_MS,
        `the longest delay is ${maxMs} ms, a year is promised on every backend`,
      );
      const queue = ctx.freshQueue();
      for (const delayMs of [25 * DAY_MS, 30 * DAY_MS, maxMs]) {
        const [job] = await ctx.put(backend, queue, 1, { delayMs });
        const view = await backend.lookup?.find(queue, job?.id ?? '', ctx.call);
        if (view)
          assert.ok(
            Math.abs((view.dueInMs ?? 0) - delayMs) < 60_000,
            `due in ${view.dueInMs}, asked ${delayMs}`,
          );
      }
      await ctx.claimNone(backend, queue, 'the first is due in 25 days');
      await expectCounts(ctx, backend, queue, { ready: 0, scheduled: 3 });
      const [outcome] = await ctx.enqueue(backend, [ctx.newJob(queue, { delayMs: maxMs + 1 })]);
      assert.ok(outcome?.status === 'rejected', `a delay above the limit was ${outcome?.status}`);
      assert.equal(outcome.error.code, 'LIMIT_EXCEEDED');
    },
  }),
  define({
    id: 'G8.3/a-year-passes',
    title: 'nothing before the day, the job once after it',
    covers: ['B058'],
    hooks: ['elapse'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const year = 365 * DAY_MS;
      const [job] = await ctx.put(backend, queue, 1, { delayMs: year });
      for (const day of [1, 25, 300, 38]) {
        await ctx.elapse(queue, day * DAY_MS);
        await ctx.claimNone(backend, queue, 'the year is not over');
      }
      await ctx.elapse(queue, year - 364 * DAY_MS + ctx.capabilities.delay.granularityMs);
      const lease = await ctx.claimOne(backend, queue);
      assert.equal(lease.id, job?.id);
      await ctx.complete(backend, lease);
      await ctx.claimNone(backend, queue, 'it ran');
    },
  }),
  define({
    id: 'G8.2/expiry-is-told',
    title: 'a lease tells what is left until the expiry of its job; the store drops nothing',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue, 1, { expiresInMs: 60_000 });
      const fresh = await ctx.claimOne(backend, queue);
      assert.ok(
        fresh.expiresInMs !== null && fresh.expiresInMs > 30_000 && fresh.expiresInMs <= 60_000,
        `${fresh.expiresInMs}`,
      );
      await ctx.complete(backend, fresh);
      await ctx.put(backend, queue, 1, { expiresInMs: 200 });
      await ctx.passTime(300);
      const stale = await ctx.claimOne(backend, queue);
      assert.ok(stale.expiresInMs !== null && stale.expiresInMs <= 0, `${stale.expiresInMs} ms left`);
      await ctx.retry(backend, stale);
      assert.ok(((await ctx.claimOne(backend, queue)).expiresInMs ?? 1) <= 0, 'a retry starts no new life');
    },
  }),
  define({
    id: 'G8.4/better-first',
    title: 'better levels are claimed first, whatever the order of enqueues',
    covers: ['B100'],
    needs: levelled,
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const levels = levelsOf(ctx);
      const order = Array.from({ length: levels * 5 }, (_, n) => n % levels).toSorted(
        () => ctx.random.next() - 0.5,
      );
      for (const priority of order)
        await ctx.put(backend, queue, 1, { priority, headers: { priority: `${priority}` } });
      const got = [];
      for (let n = 0; n < order.length; n++)
        got.push(Number((await ctx.claimOne(backend, queue)).headers['priority']));
      assert.deepEqual(
        got,
        order.toSorted((a, b) => a - b),
      );
    },
  }),
  define({
    id: 'G8.4/kept-over-return',
    title: 'a job keeps its level over retry, release, loss, delay and redrive',
    covers: ['B100'],
    needs: levelled,
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const worst = levelsOf(ctx) - 1;
      const best = { priority: 0, headers: { best: 'yes' } };
      const [job] = await ctx.put(backend, queue, 1, best);
      assert.ok(job);
      await ctx.put(backend, queue, 10, { priority: worst });
      const next = async (leaseMs = ctx.leaseMs): Promise<Parameters<Context['retry']>[1]> => {
        const lease = await ctx.claimOne(backend, queue, { leaseMs });
        assert.equal(lease.id, job.id, 'a worse job came first');
        return lease;
      };
      await ctx.retry(backend, await next());
      await ctx.release(backend, await next(), 'stop');
      await next(ctx.shortLeaseMs);
      await ctx.passLease(ctx.shortLeaseMs);
      // Its return may take the stated bound; a worse one taken meanwhile is put back.
      await ctx.passTime(ctx.capabilities.lease.reclaimBoundMs);
      await ctx.retry(backend, await next(), 300);
      await ctx.passTime(400 + ctx.capabilities.delay.granularityMs);
      await ctx.bury(backend, await next());
      await backend.deadLetters.redrive(queue, { ids: [job.id] }, ctx.call);
      await next();
    },
  }),
  define({
    id: 'G8.4/unknown-level',
    title: 'a level that the store does not have is refused, not bent',
    needs: levelled,
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue, 1, { priority: levelsOf(ctx) - 1 });
      const [outcome] = await ctx.enqueue(backend, [ctx.newJob(queue, { priority: levelsOf(ctx) })]);
      assert.ok(outcome?.status === 'rejected', `an unknown level was ${outcome?.status}`);
      assert.ok(['LIMIT_EXCEEDED', 'CAPABILITY_MISSING'].includes(outcome.error.code), outcome.error.code);
      assert.equal(idsOf(await ctx.claimAll(backend, queue, 1)).length, 1);
    },
  }),
];

function levelled(capabilities: Context['capabilities']): true | string {
  return unless(capabilities.priority !== 'none', 'no levels of priority');
}

function levelsOf(ctx: Context): number {
  return ctx.capabilities.priority === 'none' ? 1 : ctx.capabilities.priority.levels;
}

/** Waits in long polls until one brings a job; an empty one proves nothing. */
async function untilCame(
  ctx: Context,
  backend: Backend,
  queue: string,
): Promise<Parameters<Context['retry']>[1]> {
  for (;;) {
    const { leases } = await ctx.claim(backend, queue, { waitMs: 5000 });
    if (leases[0] !== undefined) return leases[0];
  }
}
