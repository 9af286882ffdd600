import assert from 'node:assert/strict';
import type { Backend, QueueCounts } from '@surety/core/contract';
import { type Case, define, unless } from '../case.ts';
import { type Context, jobError } from '../context.ts';
import { deadLetter, expectCounts, fits } from './expectations.ts';

/** How far an exact age may be from the suite's own clock, which starts before and reads after the store. */
const AGE_SLACK_MS = 1000;

/** G5: what can be seen from outside. */
export const visibilityCases: readonly Case[] = [
  define({
    id: 'G5.1/each-state',
    title: 'every state is counted, by a connection that never worked on the queue',
    async run(ctx) {
      const [worker, observer] = [await ctx.openBackend(), await ctx.openBackend()];
      const queue = ctx.freshQueue();
      await expectCounts(ctx, observer, queue, { ready: 0, scheduled: 0, leased: 0, dead: 0 });
      await ctx.dead(worker, queue, 3);
      await ctx.put(worker, queue, 7);
      await ctx.put(worker, queue, 4, { delayMs: later(ctx) });
      const leases = await ctx.claimAll(worker, queue, 2);
      await expectCounts(ctx, observer, queue, { ready: 5, scheduled: 4, leased: 2, dead: 3 });
      await ctx.complete(worker, ...leases);
      await expectCounts(ctx, observer, queue, { ready: 5, scheduled: 4, leased: 0, dead: 3 });
      await observer.pacing.pause(queue, ctx.call);
      await expectCounts(ctx, observer, queue, { ready: 5, scheduled: 4, leased: 0, dead: 3 });
      await expectCounts(ctx, observer, ctx.freshQueue(), { ready: 0, scheduled: 0, leased: 0, dead: 0 });
    },
  }),
  define({
    id: 'G5.1/due-counts-as-ready',
    title: 'a scheduled job counts as ready from its due time on, moved or not',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const delayMs = Math.min(
        Math.max(1000, ctx.capabilities.delay.granularityMs),
        ctx.capabilities.delay.maxMs,
      );
      const from = ctx.now();
      await ctx.put(backend, queue, 3, { delayMs });
      const counts = await backend.counts(queue, ctx.call);
      if (ctx.now() - from < delayMs)
        assert.ok(fits(counts.scheduled.kind, counts.scheduled.value, 3), 'scheduled before due');
      await ctx.passTime(delayMs + ctx.capabilities.delay.granularityMs + 50);
      await expectCounts(ctx, backend, queue, { ready: 3, scheduled: 0 });
    },
  }),
  define({
    id: 'G5.1/ended-lease-counts-as-ready',
    title: 'a job whose lease has ended counts as ready, not as leased, although nobody claimed it',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue, 3);
      await ctx.claimAll(backend, queue, 3, { leaseMs: ctx.shortLeaseMs });
      await ctx.passLease(ctx.shortLeaseMs);
      await expectCounts(ctx, backend, queue, { ready: 3, leased: 0, scheduled: 0 });
    },
  }),
  define({
    id: 'G5.2/not-due-is-no-age',
    title: 'jobs that are scheduled, running or dead have no age in the queue',
    covers: ['B109'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue, 2, { delayMs: later(ctx) });
      await ctx.dead(backend, queue);
      await ctx.put(backend, queue);
      const lease = await ctx.claimOne(backend, queue);
      await ctx.passTime(300);
      const { oldestReadyAgeMs } = await backend.counts(queue, ctx.call);
      assert.equal(oldestReadyAgeMs.kind, ctx.capabilities.oldestReadyAge);
      assert.equal(oldestReadyAgeMs.value, null, 'nothing is ready');
      await ctx.retry(backend, lease, later(ctx));
      assert.equal((await backend.counts(queue, ctx.call)).oldestReadyAgeMs.value, null, 'backing off');
    },
  }),
  define({
    id: 'G5.2/from-due-time',
    title: 'the age of the oldest ready job counts from when it became due',
    covers: ['B109'],
    needs: aged,
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const { granularityMs, maxMs } = ctx.capabilities.delay;
      const delayMs = Math.min(Math.max(1500, 2 * granularityMs), maxMs);
      const from = ctx.now();
      await ctx.put(backend, queue, 1, { delayMs });
      await ctx.passTime(delayMs + 400);
      await expectAge(ctx, await backend.counts(queue, ctx.call), 400, ctx.now() - from - delayMs);
      await ctx.put(backend, queue);
      await ctx.passTime(200);
      await expectAge(ctx, await backend.counts(queue, ctx.call), 600, ctx.now() - from - delayMs);
    },
  }),
  define({
    id: 'G5.2/begins-anew',
    title: 'after retry, release, loss and redrive the age begins anew',
    covers: ['B109'],
    needs: aged,
    async run(ctx) {
      const backend = await ctx.openBackend();
      const old = 1500;
      const ways: readonly ((queue: string) => Promise<number>)[] = [
        async (queue) => timed(ctx, async () => ctx.retry(backend, await ctx.claimOne(backend, queue))),
        async (queue) => timed(ctx, async () => ctx.release(backend, await ctx.claimOne(backend, queue))),
        async (queue) => {
          const lease = await ctx.claimOne(backend, queue);
          await ctx.bury(backend, lease);
          await deadLetter(ctx, backend, queue, lease.id);
          return timed(ctx, () => backend.deadLetters.redrive(queue, { ids: [lease.id] }, ctx.call));
        },
      ];
      const queues = ways.map(() => ctx.freshQueue());
      for (const queue of queues) await ctx.put(backend, queue);
      await ctx.passTime(old);
      for (const [index, queue] of queues.entries()) {
        const from = await ways[index]?.(queue);
        assert.ok(from !== undefined);
        await expectAge(ctx, await backend.counts(queue, ctx.call), 0, ctx.now() - from);
      }
      const lost = ctx.freshQueue();
      await ctx.put(backend, lost);
      const from = ctx.now();
      await ctx.claimOne(backend, lost, { leaseMs: ctx.shortLeaseMs });
      await ctx.passLease(ctx.shortLeaseMs);
      await expectAge(ctx, await backend.counts(lost, ctx.call), 0, ctx.now() - from - ctx.shortLeaseMs);
    },
  }),
  define({
    id: 'G5.2/waited',
    title: 'a lease says how long its job was ready, by the clock of the store',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const from = ctx.now();
      await ctx.put(backend, queue);
      await ctx.passTime(700);
      const lease = await ctx.claimOne(backend, queue);
      const { granularityMs } = ctx.capabilities.delay;
      assert.ok(lease.waitedMs >= 700 - 50 - granularityMs, `waited ${lease.waitedMs} of 700 ms`);
      assert.ok(lease.waitedMs <= ctx.now() - from + 50 + granularityMs, `waited ${lease.waitedMs} ms`);
    },
  }),
  define({
    id: 'G5.3/queues-listed',
    title: 'queues that hold a job in any state or are paused are listed, sorted, once each',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const [ready, scheduled, leased, dead, paused, empty] = Array.from({ length: 6 }, () =>
        ctx.freshQueue(),
      );
      assert.ok(ready && scheduled && leased && dead && paused && empty);
      await ctx.put(backend, ready);
      await ctx.put(backend, scheduled, 1, { delayMs: later(ctx) });
      await ctx.put(backend, leased);
      await ctx.claimOne(backend, leased);
      await ctx.dead(backend, dead);
      await backend.pacing.pause(paused, ctx.call);
      const names = await backend.queues(ctx.call);
      for (const queue of [ready, scheduled, leased, dead, paused])
        assert.ok(names.includes(queue), `${queue} is missing`);
      assert.ok(!names.includes(empty), 'a queue that never held anything');
      assert.deepEqual([...names], [...new Set(names)].toSorted(), 'sorted, once each');
    },
  }),
  define({
    id: 'G5.4/each-state',
    title: 'a job is found by id in every state, with its facts and its payload as it was written',
    needs: (c) => unless(c.lookup, 'no lookup by id'),
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const payload = '{"b":1,"a":1.0}';
      const headers = { h: 'v' };
      const find = (id: string): ReturnType<NonNullable<Backend['lookup']>['find']> | undefined =>
        backend.lookup?.find(queue, id, ctx.call);
      assert.equal(await find('00000000-0000-4000-8000-000000000000'), null);
      const [job] = await ctx.put(backend, queue, 1, {
        payload,
        headers,
        maxAttempts: 9,
        idempotencyKey: 'k',
      });
      assert.ok(job);
      const ready = await find(job.id);
      assert.ok(ready);
      assert.deepEqual(
        [ready.state, ready.attempt, ready.payload, { ...ready.headers }],
        ['ready', 0, payload, headers],
      );
      assert.deepEqual(
        [ready.maxAttempts, ready.idempotencyKey, ready.type, ready.queue],
        [9, 'k', job.type, queue],
      );
      assert.deepEqual([ready.lastError, ready.history, ready.dedupeKey], [null, [], null]);
      assert.ok(ready.ageMs >= 0 && ready.dueInMs !== null && ready.dueInMs <= 0);
      const lease = await ctx.claimOne(backend, queue);
      const leased = await find(job.id);
      assert.deepEqual([leased?.state, leased?.dueInMs], ['leased', null]);
      await ctx.retry(backend, lease, later(ctx), jobError('first'));
      const scheduled = await find(job.id);
      assert.deepEqual(
        [scheduled?.state, scheduled?.attempt, scheduled?.lastError?.message],
        ['scheduled', 1, 'first'],
      );
      assert.ok((scheduled?.dueInMs ?? 0) > 0);
      const [buried] = await ctx.dead(backend, queue);
      assert.equal((await find(buried?.id ?? ''))?.state, 'dead');
      const [done] = await ctx.put(backend, queue);
      await ctx.complete(backend, await ctx.claimOne(backend, queue));
      const gone = await find(done?.id ?? '');
      assert.ok(gone === null || gone?.state === 'completed', 'a completed job is gone, or kept as a record');
      const other = await backend.lookup?.find(ctx.freshQueue(), job.id, ctx.call);
      assert.equal(other, null, 'found in a queue that it is not in');
    },
  }),
];

function later(ctx: Context): number {
  return Math.min(3_600_000, ctx.capabilities.delay.maxMs);
}

function aged(capabilities: Context['capabilities']): true | string {
  return unless(capabilities.oldestReadyAge !== 'none', 'no age of the oldest ready job');
}

/** When the work began, by the suite's clock. */
async function timed(ctx: Context, work: () => Promise<unknown>): Promise<number> {
  const from = ctx.now();
  await work();
  return from;
}

/** At least what surely passed, at most what can have passed, as far as the kind lets it be judged. */
async function expectAge(ctx: Context, counts: QueueCounts, atLeast: number, atMost: number): Promise<void> {
  const { value, kind } = counts.oldestReadyAgeMs;
  assert.equal(kind, ctx.capabilities.oldestReadyAge);
  assert.ok(value !== null, 'a ready job without an age');
  if (kind === 'exact' || kind === 'lower-bound')
    assert.ok(value <= atMost + AGE_SLACK_MS, `age ${value}, at most ${atMost.toFixed(0)}`);
  if (kind === 'exact' || kind === 'upper-bound')
    assert.ok(value >= atLeast - AGE_SLACK_MS / 4, `age ${value}, at least ${atLeast}`);
}
