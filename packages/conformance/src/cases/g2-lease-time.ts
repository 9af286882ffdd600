import assert from 'node:assert/strict';
import { type Case, define, unless } from '../case.ts';
import { codeOf, everyOnce, idsOf } from './expectations.ts';

/** Long enough that a renewal at a third of it is in time on a busy machine. */
const RENEWED_LEASE_MS = 3000;

/** G2.3, G2.10: how long a lease holds, and when its job is back. */
export const leaseTimeCases: readonly Case[] = [
  define({
    id: 'G2.3/counts-from-now',
    title: 'a lease renewed many times ends one length after the last renewal, not after their sum',
    covers: ['B012'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      const leaseMs = ctx.shortLeaseMs;
      const lease = await ctx.claimOne(backend, queue, { leaseMs });
      let renewedAt = 0;
      for (let renewal = 0; renewal < 10; renewal++) {
        renewedAt = ctx.now();
        const [outcome] = await backend.renew([lease], leaseMs, ctx.call);
        assert.ok(outcome?.status === 'renewed', `renewal ${renewal}`);
        assert.ok(
          outcome.leaseMs > 0 && outcome.leaseMs <= leaseMs,
          `${outcome.leaseMs} ms are left of ${leaseMs}`,
        );
      }
      await ctx.passLease(leaseMs);
      await ctx.claimOne(backend, queue, { withinMs: ctx.reclaimMs });
      const away = ctx.now() - renewedAt;
      assert.ok(away >= leaseMs, `back ${away.toFixed(0)} ms after a renewal by ${leaseMs}`);
    },
  }),
  define({
    id: 'G2.3/keeps-alive',
    title: 'a holder that renews keeps its job past many lengths; one that does not loses it',
    covers: ['B011', 'B012'],
    async run(ctx) {
      const [holder, rival] = [await ctx.openBackend(), await ctx.openBackend()];
      const queue = ctx.freshQueue();
      await ctx.put(holder, queue, 2);
      const leaseMs = Math.max(RENEWED_LEASE_MS, ctx.capabilities.lease.minMs);
      const [kept, dropped] = await ctx.claimAll(holder, queue, 2, { leaseMs });
      assert.ok(kept && dropped);
      const taken: string[] = [];
      for (let third = 0; third < 6; third++) {
        await ctx.passTime(leaseMs / 3);
        const [outcome] = await holder.renew([kept], leaseMs, ctx.call);
        assert.equal(outcome?.status, 'renewed', `renewal after ${third + 1} thirds`);
        taken.push(...idsOf((await ctx.claim(rival, queue, { max: 2 })).leases));
      }
      assert.ok(!taken.includes(kept.id), 'a renewed job was handed out');
      if (!taken.includes(dropped.id)) {
        const lease = await ctx.claimOne(rival, queue, { withinMs: ctx.reclaimMs + leaseMs });
        assert.equal(lease.id, dropped.id, 'the other half of the claim');
      }
      await ctx.complete(holder, kept);
    },
  }),
  define({
    id: 'G2.3/renew-against-settle',
    title: 'a renewal that races the settlement of its lease never brings the job back',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue, 20);
      const leases = await ctx.claimAll(backend, queue, 20);
      await Promise.all(
        leases.map(async (lease) => {
          const renewing = backend.renew([lease], ctx.leaseMs, ctx.call);
          await ctx.complete(backend, lease);
          const [outcome] = await renewing;
          assert.ok(outcome?.status === 'renewed' || outcome?.status === 'lease-lost');
        }),
      );
      assert.equal((await backend.counts(queue, ctx.call)).leased.value ?? 0, 0);
      await ctx.claimNone(backend, queue, 'all were completed');
      for (const lease of leases) await ctx.expectLost(backend, lease);
    },
  }),
  define({
    id: 'G2.3/longest-and-shortest',
    title: 'leases of the stated extremes are granted, and one beyond them is refused',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const { minMs, maxMs } = ctx.capabilities.lease;
      await ctx.put(backend, queue, 2);
      const long = await ctx.claimOne(backend, queue, { leaseMs: maxMs });
      const [renewed] = await backend.renew([long], maxMs, ctx.call);
      assert.equal(renewed?.status, 'renewed');
      await ctx.complete(backend, long);
      await ctx.claimOne(backend, queue, { leaseMs: minMs });
      await ctx.passLease(minMs);
      await ctx.claimOne(backend, queue, { leaseMs: minMs, withinMs: ctx.reclaimMs });
      for (const leaseMs of [maxMs + 1, minMs - 1]) {
        const code = await codeOf(ctx.claim(backend, queue, { leaseMs }));
        assert.ok(['LIMIT_EXCEEDED', 'OPTIONS_INVALID'].includes(code), `claim for ${leaseMs} ms: ${code}`);
      }
    },
  }),
  define({
    id: 'G2.10/within-bound',
    title: 'an abandoned job is back within the bound, and not before its lease ended',
    covers: ['B007'],
    async run(ctx) {
      const [holder, rival] = [await ctx.openBackend(), await ctx.openBackend()];
      const queue = ctx.freshQueue();
      await ctx.put(holder, queue);
      const leaseMs = ctx.shortLeaseMs;
      const from = ctx.now();
      const lease = await ctx.claimOne(holder, queue, { leaseMs });
      await ctx.claimNone(rival, queue, 'the job is held');
      await ctx.passTime(leaseMs * 0.6);
      const { leases: early } = await ctx.claim(rival, queue);
      if (early.length === 0) await ctx.passTime(leaseMs * 0.4 + 20);
      const again = early[0] ?? (await ctx.claimOne(rival, queue, { withinMs: ctx.reclaimMs }));
      const away = ctx.now() - from;
      assert.equal(again.id, lease.id);
      assert.ok(away >= leaseMs, `handed out ${away.toFixed(0)} ms after a claim for ${leaseMs}`);
      ctx.expectAttempt(again, 2);
      assert.equal(again.lostClaims, 1);
    },
  }),
  define({
    id: 'G2.10/many-at-once',
    title: 'fifty claims abandoned at once are all back, once each',
    covers: ['B007'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const jobs = await ctx.put(backend, queue, 50);
      for (let n = 0; n < 50; n++)
        await ctx.claimOne(backend, queue, { leaseMs: Math.max(5000, ctx.shortLeaseMs) });
      await ctx.passLease(Math.max(5000, ctx.shortLeaseMs));
      const leases = await ctx.claimAll(backend, queue, 50, { withinMs: ctx.reclaimMs + 10_000 });
      everyOnce(idsOf(jobs), idsOf(leases), ctx.capabilities);
      assert.ok(leases.every(({ lostClaims }) => lostClaims === 1));
    },
  }),
  define({
    id: 'G2.10/killed-holder',
    title: 'kill -9 of the holder between claim and settle: the job is back in time, one attempt charged',
    covers: ['B002', 'B007'],
    hooks: ['child'],
    async run(ctx) {
      const queue = ctx.freshQueue();
      const backend = await ctx.openBackend();
      const jobs = await ctx.put(backend, queue, 3);
      const holder = await ctx.child();
      const leaseMs = Math.max(ctx.shortLeaseMs, 2000);
      const from = ctx.now();
      await ctx.eventually(
        async () => {
          await holder.call('claim', { queue, max: 3, leaseMs });
          return (await backend.counts(queue, ctx.call)).ready.value === 0;
        },
        { what: 'the child holds all', withinMs: leaseMs },
      );
      await holder.kill();
      const leases = await ctx.claimAll(backend, queue, 3, { withinMs: leaseMs + ctx.reclaimMs + 5000 });
      const away = ctx.now() - from;
      everyOnce(idsOf(jobs), idsOf(leases), ctx.capabilities);
      for (const lease of leases) ctx.expectAttempt(lease, 2);
      if (ctx.capabilities.lease.endsBy === 'time')
        assert.ok(away >= leaseMs, `back after ${away.toFixed(0)} ms`);
    },
  }),
  define({
    id: 'G2.10/close-keeps-leases',
    title: 'closing a backend releases none of its leases: they end by time',
    needs: (c) => unless(c.lease.endsBy === 'time', 'a lost connection ends its leases'),
    async run(ctx) {
      const [holder, rival] = [await ctx.openBackend(), await ctx.openBackend()];
      const queue = ctx.freshQueue();
      await ctx.put(holder, queue);
      const lease = await ctx.claimOne(holder, queue);
      await holder.close({ graceMs: 1000 });
      await ctx.claimNone(rival, queue, 'its lease has not ended');
      if (ctx.capabilities.moves === 'atomic') await ctx.complete(rival, lease);
    },
  }),
];
