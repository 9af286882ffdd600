import assert from 'node:assert/strict';
import { type Case, define, unless } from '../case.ts';
import { type Context, jobError } from '../context.ts';
import { everyOnce, expectCounts, expectStatuses, idsOf, lose } from './expectations.ts';

/** The most releases that any broker's own delivery limit could mistake for failures. */
const MANY_RELEASES = 30;

/** G4: what is charged and what is not. */
export const retryCases: readonly Case[] = [
  define({
    id: 'G4.2/charged-and-later',
    title: 'a retry is charged and comes back after its delay, not before',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      const lease = await ctx.claimOne(backend, queue);
      const delayMs = delayOf(ctx);
      const from = ctx.now();
      await ctx.retry(backend, lease, delayMs);
      await expectCounts(ctx, backend, queue, { leased: 0, dead: 0 });
      const early = await ctx.claim(backend, queue);
      if (early.leases.length === 0) await ctx.passTime(delayMs);
      const again = early.leases[0] ?? (await ctx.claimOne(backend, queue));
      assert.ok(ctx.now() - from >= delayMs, `back after ${(ctx.now() - from).toFixed(0)} of ${delayMs} ms`);
      assert.deepEqual([again.id, again.attempt, again.lostClaims], [lease.id, 2, 0]);
      assert.ok(again.deliveries >= 2);
    },
  }),
  define({
    id: 'G4.2/at-once',
    title: 'a retry without delay is ready at once, and attempts count up one by one',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      for (let attempt = 1; attempt <= 6; attempt++) {
        const lease = await ctx.claimOne(backend, queue);
        ctx.expectAttempt(lease, attempt);
        await ctx.retry(backend, lease, 0, jobError(`failure ${attempt}`, { attempt }));
      }
    },
  }),
  define({
    id: 'G4.2/long-delays',
    title: 'a retry may be put off by days, as long as an enqueue may',
    covers: ['B056', 'B058'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const day = 86_400_000;
      for (const delayMs of [1_200_000, 3 * day, 30 * day]) {
        if (delayMs > ctx.capabilities.delay.maxMs) continue;
        const queue = ctx.freshQueue();
        await ctx.put(backend, queue);
        const lease = await ctx.claimOne(backend, queue);
        await ctx.retry(backend, lease, delayMs);
        await ctx.claimNone(backend, queue, `it is due in ${delayMs} ms`);
        const view = await backend.lookup?.find(queue, lease.id, ctx.call);
        if (view) assert.ok(Math.abs((view.dueInMs ?? 0) - delayMs) < 60_000, `due in ${view.dueInMs} ms`);
        await expectCounts(ctx, backend, queue, { ready: 0, scheduled: 1 });
      }
    },
  }),
  define({
    id: 'G4.2/clears-losses',
    title: 'a retry clears what was known of lost claims and of an unknown type',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      await lose(ctx, backend, queue);
      await ctx.release(backend, await ctx.claimOne(backend, queue), 'unknown-type');
      const marked = await ctx.claimOne(backend, queue);
      assert.equal(marked.lostClaims, 1);
      assert.ok(marked.unknownTypeForMs !== null);
      await ctx.retry(backend, marked);
      const clean = await ctx.claimOne(backend, queue);
      assert.deepEqual([clean.lostClaims, clean.unknownTypeForMs, clean.lossBackedOff], [0, null, false]);
      ctx.expectAttempt(clean, 3);
    },
  }),
  define({
    id: 'G4.3/lost-claims',
    title: 'each lost claim is charged and counted, and its job comes back unharmed',
    covers: ['B046', 'B007'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue, 1, { payload: '{"a":1}' });
      for (let lost = 0; lost < 3; lost++) {
        const lease = await ctx.claimOne(backend, queue, { leaseMs: ctx.shortLeaseMs });
        ctx.expectAttempt(lease, lost + 1);
        assert.equal(lease.lostClaims, lost);
        assert.equal(lease.lossBackedOff, false);
        assert.deepEqual(lease.payload, { value: { a: 1 } });
        await ctx.passLease(ctx.shortLeaseMs);
      }
      const lease = await ctx.claimOne(backend, queue);
      assert.equal(lease.lostClaims, 3);
      assert.ok(lease.deliveries >= 4);
    },
  }),
  define({
    id: 'G4.3/only-the-lost',
    title: 'of a claim of many only the jobs without a settlement are charged',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue, 6);
      const leases = await ctx.claimAll(backend, queue, 6, { leaseMs: Math.max(ctx.shortLeaseMs, 3000) });
      const [done, failed, released, ...lost] = leases;
      assert.ok(done && failed && released);
      await ctx.complete(backend, done);
      await ctx.retry(backend, failed);
      await ctx.release(backend, released);
      await ctx.passLease(Math.max(ctx.shortLeaseMs, 3000));
      const back = await ctx.claimAll(backend, queue, 5);
      const attempts = new Map(back.map((lease) => [lease.id, [lease.attempt, lease.lostClaims]]));
      assert.deepEqual(attempts.get(failed.id), [2, 0]);
      assert.deepEqual(attempts.get(released.id), [1, 0]);
      for (const { id } of lost) assert.deepEqual(attempts.get(id), [2, 1]);
    },
  }),
  define({
    id: 'G4.4/many-releases',
    title: 'a job released thirty times is uncharged, and runs on the next claim',
    covers: ['B047', 'B039'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const [job] = await ctx.put(backend, queue);
      for (let n = 0; n < MANY_RELEASES; n++) {
        const lease = await ctx.claimOne(backend, queue);
        assert.equal(lease.attempt, 1, `charged after ${n} releases`);
        await ctx.release(backend, lease);
      }
      const lease = await ctx.claimOne(backend, queue);
      assert.deepEqual([lease.id, lease.attempt, lease.interruptions, lease.lostClaims], [job?.id, 1, 0, 0]);
      assert.ok(lease.deliveries > MANY_RELEASES);
      await ctx.complete(backend, lease);
    },
  }),
  define({
    id: 'G4.4/after-failures',
    title: 'a release gives back its own claim only: attempts of earlier failures stay charged',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      await ctx.retry(backend, await ctx.claimOne(backend, queue));
      await lose(ctx, backend, queue);
      for (const reason of ['unstarted', 'stop', 'snooze'] as const) {
        const lease = await ctx.claimOne(backend, queue);
        ctx.expectAttempt(lease, 3);
        assert.equal(lease.lostClaims, 1, 'a release keeps the count of lost claims');
        await ctx.release(backend, lease, reason);
      }
      ctx.expectAttempt(await ctx.claimOne(backend, queue), 3);
    },
  }),
  define({
    id: 'G4.4/release-with-delay',
    title: 'a release with a delay is back after it, not before',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      const delayMs = delayOf(ctx);
      const lease = await ctx.claimOne(backend, queue);
      const from = ctx.now();
      await ctx.release(backend, lease, 'snooze', delayMs);
      const early = await ctx.claim(backend, queue);
      if (early.leases.length === 0) await ctx.passTime(delayMs);
      const again = early.leases[0] ?? (await ctx.claimOne(backend, queue));
      assert.ok(ctx.now() - from >= delayMs, 'back before its delay');
      assert.equal(again.attempt, 1);
    },
  }),
  define({
    id: 'G4.4/late-release-refunds-nothing',
    title: 'a release after the end of its lease is lost and refunds nothing',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      const lease = await ctx.claimOne(backend, queue, { leaseMs: ctx.shortLeaseMs });
      await ctx.passLease(ctx.shortLeaseMs);
      const [outcome] = await ctx.settleOnce(backend, [
        { kind: 'release', lease, delayMs: 0, reason: 'stop' },
      ]);
      expectStatuses(ctx, [outcome ?? { status: 'none' }], ['lease-lost']);
      const again = await ctx.claimOne(backend, queue);
      ctx.expectAttempt(again, 2);
      assert.equal(again.interruptions, 0);
    },
  }),
  define({
    id: 'G4.2/failures-among-neighbours',
    title: 'retries and completions in mixed batches: each job ends once, with its own count',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const jobs = await ctx.put(backend, queue, 30);
      const wanted = new Map(jobs.map(({ id }, index) => [id, 1 + (index % 3)]));
      const done: string[] = [];
      const beyond: string[] = [];
      await ctx.eventually(
        async () => {
          const { leases } = await ctx.claim(backend, queue, { max: 7 });
          await ctx.settle(
            backend,
            leases.map((lease) =>
              lease.attempt < (wanted.get(lease.id) ?? 0)
                ? { kind: 'retry', lease, delayMs: 0, error: jobError('not yet', { attempt: lease.attempt }) }
                : { kind: 'complete', lease, outcome: 'completed' },
            ),
          );
          for (const { id, attempt } of leases) {
            const last = wanted.get(id) ?? 0;
            if (attempt >= last) done.push(id);
            if (attempt > last) beyond.push(`attempt ${attempt} of ${last}`);
          }
          return done.length >= 30;
        },
        { what: 'all thirty end', withinMs: 20_000, everyMs: 1 },
      );
      // Where they are an upper bound a claim may have been charged that nobody got: then a job ends sooner.
      if (ctx.capabilities.attempts === 'exact') assert.deepEqual(beyond, []);
      everyOnce(idsOf(jobs), done, ctx.capabilities);
      await ctx.claimNone(backend, queue, 'all were completed');
    },
  }),
  define({
    id: 'G4.4/charges-exactly',
    title: 'where attempts are exact, a random life is charged exactly: failures and losses, never releases',
    covers: ['B039'],
    needs: (c) => unless(c.attempts === 'exact', 'attempts are an upper bound'),
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      let charged = 0;
      let losses = 0;
      for (let step = 0; step < 25; step++) {
        const way = losses < 2 ? ctx.random.int(0, 4) : ctx.random.int(0, 3);
        const lease = await ctx.claimOne(backend, queue, way === 4 ? { leaseMs: ctx.shortLeaseMs } : {});
        assert.equal(lease.attempt, charged + 1, `step ${step}`);
        if (way < 2) await ctx.retry(backend, lease);
        else if (way < 4) await ctx.release(backend, lease, ctx.random.pick(['stop', 'unstarted', 'snooze']));
        else {
          losses++;
          await ctx.passLease(ctx.shortLeaseMs);
        }
        if (way < 2 || way === 4) charged++;
      }
    },
  }),
];
/** A delay worth waiting for, within what the store can measure. */
function delayOf(ctx: Context): number {
  return Math.min(Math.max(600, ctx.capabilities.delay.granularityMs * 2), ctx.capabilities.delay.maxMs);
}
