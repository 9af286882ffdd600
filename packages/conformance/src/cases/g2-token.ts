import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Lease, Settlement } from '@surety/core/contract';
import { type Case, define, unless } from '../case.ts';
import { jobError } from '../context.ts';
import { completion, everySettlement } from '../stage/settling.ts';
import { expectCounts, expectStatuses, idsOf } from './expectations.ts';

/** G2.1, G2.4, G2.5, G2.8: only the holder of the current token changes anything. */
export const tokenCases: readonly Case[] = [
  define({
    id: 'G2.1/stale-token-settle',
    title: 'under the token of a lost lease nothing is settled or renewed; the new holder settles once',
    covers: ['B014'],
    async run(ctx) {
      const [first, second] = [await ctx.openBackend(), await ctx.openBackend()];
      const queue = ctx.freshQueue();
      await ctx.put(first, queue);
      const stale = await ctx.claimOne(first, queue, { leaseMs: ctx.shortLeaseMs });
      await ctx.passLease(ctx.shortLeaseMs);
      const current = await ctx.claimOne(second, queue);
      assert.equal(current.id, stale.id);
      await ctx.expectLost(first, stale);
      await ctx.complete(second, current);
      await ctx.expectLost(second, current);
      await ctx.expectLost(first, stale);
      await expectCounts(ctx, first, queue, { ready: 0, scheduled: 0, leased: 0, dead: 0 });
      await ctx.claimNone(first, queue, 'the job was completed');
    },
  }),
  define({
    id: 'G2.1/settled-twice',
    title: 'after each kind of settlement the lease answers lease-lost to all others',
    covers: ['B014', 'B033'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      for (let kind = 0; kind < 4; kind++) {
        const queue = ctx.freshQueue();
        await ctx.put(backend, queue);
        const lease = await ctx.claimOne(backend, queue);
        const settlement = everySettlement(lease)[kind];
        assert.ok(settlement);
        await ctx.settle(backend, [settlement]);
        await ctx.expectLost(backend, lease);
        const { ready, dead } = { ready: [0, 1, 0, 1][kind] ?? 0, dead: kind === 2 ? 1 : 0 };
        await expectCounts(ctx, backend, queue, { ready, dead, leased: 0 });
      }
    },
  }),
  define({
    id: 'G2.1/made-up-token',
    title: 'a token that nobody was given settles and renews nothing',
    covers: ['B014'],
    needs: (c) =>
      unless(c.moves === 'atomic', "the lease is the broker's own handle, which cannot be made up"),
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      const lease = await ctx.claimOne(backend, queue);
      await ctx.expectLost(backend, { ...lease, token: { ...lease.token, nonce: randomUUID() } });
      await ctx.complete(backend, lease);
    },
  }),
  define({
    id: 'G2.1/token-of-another-claim',
    title: 'a worker that holds two claims cannot settle a job under the token of the wrong one',
    covers: ['B014'],
    needs: (c) =>
      unless(c.moves === 'atomic', "the lease is the broker's own handle, which cannot be crossed"),
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue, 4);
      const [a, b] = [await ctx.claimOne(backend, queue), await ctx.claimOne(backend, queue)];
      const crossed: readonly Lease[] = [
        { ...a, token: { ...a.token, nonce: b.token.nonce } },
        { ...b, token: { ...b.token, nonce: a.token.nonce } },
      ];
      // All in one call with a good one, as a busy worker would send them.
      const [good] = await ctx.claimAll(backend, queue, 1);
      assert.ok(good);
      const outcomes = await ctx.settleOnce(backend, [...crossed, good].map(completion));
      expectStatuses(ctx, outcomes, ['lease-lost', 'lease-lost', 'settled']);
      await ctx.complete(backend, a, b);
    },
  }),
  define({
    id: 'G2.1/rivals-with-one-lease',
    title: 'eight connections settle one lease at once: one is settled, seven are lease-lost',
    covers: ['B014'],
    needs: (c) => unless(c.moves === 'atomic', "the lease is bound to its holder's connection"),
    async run(ctx) {
      const rivals = await ctx.rivals(8);
      const queue = ctx.freshQueue();
      const [first] = rivals;
      assert.ok(first);
      for (let round = 0; round < 10; round++) {
        await ctx.put(first, queue);
        const lease = await ctx.claimOne(first, queue);
        const answers = await Promise.all(rivals.map((rival) => ctx.settleOnce(rival, [completion(lease)])));
        const settled = answers.flat().filter(({ status }) => status === 'settled');
        assert.equal(settled.length, 1, 'settlements that counted');
      }
    },
  }),
  define({
    id: 'G2.4/lost-before-anyone-claims',
    title: 'a lease that has ended answers lease-lost although nobody claimed the job again',
    covers: ['B014'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      for (let kind = 0; kind < 5; kind++) {
        const queue = ctx.freshQueue();
        await ctx.put(backend, queue);
        const lease = await ctx.claimOne(backend, queue, { leaseMs: ctx.capabilities.lease.minMs });
        await ctx.passLease(ctx.capabilities.lease.minMs);
        const settlement = everySettlement(lease)[kind];
        // The renewal goes first in one round, so that it meets an end that no other call has seen.
        if (settlement === undefined) {
          const [renewed] = await backend.renew([lease], ctx.leaseMs, ctx.call);
          assert.equal(renewed?.status, 'lease-lost', 'renewed after its end');
        } else {
          const [outcome] = await ctx.settleOnce(backend, [settlement]);
          expectStatuses(
            ctx,
            [outcome ?? { status: 'none' }],
            ['lease-lost'],
            `${settlement.kind} after the end of the lease`,
          );
        }
        const again = await ctx.claimOne(backend, queue);
        assert.equal(again.id, lease.id, 'the job must come back');
        ctx.expectAttempt(again, 2);
      }
    },
  }),
  define({
    id: 'G2.4/among-the-living',
    title: 'in one call with live leases only the ended ones are lost',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue, 5);
      const short = await ctx.claimAll(backend, queue, 2, { leaseMs: ctx.shortLeaseMs });
      const long = await ctx.claimAll(backend, queue, 3);
      await ctx.passLease(ctx.shortLeaseMs);
      const mixed = [long[0], short[0], long[1], short[1], long[2]].flatMap((lease) => lease ?? []);
      const renewed = await backend.renew(mixed, ctx.leaseMs, ctx.call);
      const pattern = ['renewed', 'lease-lost', 'renewed', 'lease-lost', 'renewed'];
      assert.deepEqual(
        renewed.map(({ status }) => status),
        pattern,
      );
      const outcomes = await ctx.settleOnce(backend, mixed.map(completion));
      expectStatuses(
        ctx,
        outcomes,
        pattern.map((status) => (status === 'renewed' ? 'settled' : status)),
      );
      assert.deepEqual(idsOf(await ctx.claimAll(backend, queue, 2)).toSorted(), idsOf(short).toSorted());
    },
  }),
  define({
    id: 'G2.5/late-worker',
    title: 'whatever a late worker sends, the new holder keeps its lease and its count',
    covers: ['B014'],
    async run(ctx) {
      const [late, current] = [await ctx.openBackend(), await ctx.openBackend()];
      const queue = ctx.freshQueue();
      const [job] = await ctx.put(late, queue);
      const stale = await ctx.claimOne(late, queue, { leaseMs: ctx.shortLeaseMs });
      await ctx.passLease(ctx.shortLeaseMs);
      const lease = await ctx.claimOne(current, queue);
      await ctx.expectLost(late, stale);
      const [renewed] = await current.renew([lease], ctx.leaseMs, ctx.call);
      assert.equal(renewed?.status, 'renewed');
      await ctx.claimNone(late, queue, 'the job is held');
      await ctx.retry(current, lease, 0);
      const third = await ctx.claimOne(current, queue);
      assert.equal(third.id, job?.id);
      ctx.expectAttempt(third, 3);
      assert.equal(
        (await current.deadLetters.list({ queue, limit: 5, cursor: null, type: null }, ctx.call)).entries
          .length,
        0,
      );
    },
  }),
  define({
    id: 'G2.5/frozen-process',
    title: 'a process frozen past its leases wakes up and changes nothing',
    covers: ['B014', 'B013'],
    hooks: ['child'],
    async run(ctx) {
      const queue = ctx.freshQueue();
      const backend = await ctx.openBackend();
      const jobs = await ctx.put(backend, queue, 5);
      const sleeper = await ctx.child();
      const leaseMs = Math.max(ctx.shortLeaseMs, 2000);
      const held = new Set<string>();
      // A claim may bring fewer than there are.
      await ctx.eventually(
        async () => {
          for (const { id } of await sleeper.call('claim', { queue, max: 5, leaseMs })) held.add(id);
          return held.size === jobs.length;
        },
        { what: 'the child holds all', withinMs: 10_000 },
      );
      sleeper.stopProcess();
      await ctx.passLease(leaseMs);
      const ids = idsOf(jobs);
      const leases = await ctx.claimAll(backend, queue, held.size, { withinMs: ctx.reclaimMs + 10_000 });
      await ctx.complete(backend, ...leases.slice(1));
      sleeper.continueProcess();
      const outcomes = await sleeper.call('settle', { ids });
      assert.ok(
        outcomes.every(({ status }) => status === 'lease-lost'),
        'a late settlement counted',
      );
      const renewed = await sleeper.call('renew', { ids, leaseMs });
      assert.ok(
        renewed.every(({ status }) => status === 'lease-lost'),
        'a late renewal counted',
      );
      await ctx.complete(backend, ...leases.slice(0, 1));
      await ctx.claimNone(backend, queue, 'all were completed');
    },
  }),
  define({
    id: 'G2.8/first-counts',
    title: 'two settlements of one lease in a call: the first counts, the second is lease-lost',
    covers: ['B033'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      for (let first = 0; first < 4; first++) {
        const queue = ctx.freshQueue();
        await ctx.put(backend, queue, 2);
        const [twice, other] = await ctx.claimAll(backend, queue, 2);
        assert.ok(twice && other);
        const kinds = everySettlement(twice);
        const pair = [kinds[first], completion(other), kinds[(first + 1) % 4]].flatMap((s): Settlement[] =>
          s ? [s] : [],
        );
        const outcomes = await ctx.settleOnce(backend, pair);
        expectStatuses(ctx, outcomes, ['settled', 'settled', 'lease-lost'], `first is ${kinds[first]?.kind}`);
        await expectCounts(ctx, backend, queue, {
          dead: first === 2 ? 1 : 0,
          ready: first === 1 || first === 3 ? 1 : 0,
        });
      }
    },
  }),
  define({
    id: 'G2.8/all-kinds-in-one-call',
    title: 'settlements of all kinds in one call, each for its own job',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue, 6);
      const [a, b, c, d, e, f] = await ctx.claimAll(backend, queue, 6);
      assert.ok(a && b && c && d && e && f);
      const later = Math.min(3_600_000, ctx.capabilities.delay.maxMs);
      await ctx.settle(backend, [
        completion(a),
        { kind: 'complete', lease: b, outcome: 'cancelled' },
        { kind: 'retry', lease: c, delayMs: later, error: jobError('c') },
        { kind: 'bury', lease: d, error: jobError('d') },
        { kind: 'release', lease: e, delayMs: 0, reason: 'stop' },
        { kind: 'retry', lease: f, delayMs: 0, error: jobError('f') },
      ]);
      await expectCounts(ctx, backend, queue, { ready: 2, scheduled: 1, leased: 0, dead: 1 });
      const leases = await ctx.claimAll(backend, queue, 2);
      const byId = new Map(leases.map((lease) => [lease.id, lease]));
      assert.deepEqual([byId.get(e.id)?.attempt, byId.get(e.id)?.interruptions], [1, 1], 'the released one');
      assert.equal(byId.get(f.id)?.attempt, 2, 'the retried one');
    },
  }),
];
