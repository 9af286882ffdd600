import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type Case, define, unless } from '../case.ts';
import { completion } from '../stage/settling.ts';
import { codeOf, everyOnce, idsOf } from './expectations.ts';

/** G2.6, G2.7: claims repeated by nonce, and fences. */
export const replayCases: readonly Case[] = [
  define({
    id: 'G2.6/replay',
    title: 'a claim repeated with its nonce returns the same leases, uncharged and not prolonged',
    needs: (c) => unless(c.claimReplay, 'a claim cannot be repeated'),
    async run(ctx) {
      const [backend, rival] = [await ctx.openBackend(), await ctx.openBackend()];
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue, 5);
      const nonce = randomUUID();
      const leases = await ctx.claimAll(backend, queue, 3, { max: 3, nonce });
      for (let again = 0; again < 3; again++) {
        const replay = await ctx.claim(again === 1 ? rival : backend, queue, { max: 3, nonce });
        const facts = (lease: (typeof leases)[0]): unknown[] => [
          lease.id,
          lease.token,
          lease.attempt,
          lease.deliveries,
        ];
        assert.deepEqual(byId(replay.leases).map(facts), byId(leases).map(facts));
      }
      const [first, ...held] = leases;
      assert.ok(first);
      await ctx.complete(backend, first);
      const later = await ctx.claim(backend, queue, { max: 3, nonce });
      assert.deepEqual(idsOf(byId(later.leases)), idsOf(byId(held)), 'what is still held');
      await ctx.complete(rival, ...later.leases);
      const others = await ctx.claimAll(backend, queue, 2);
      assert.ok(others.every(({ attempt, token }) => attempt === 1 && token.nonce !== nonce));
    },
  }),
  define({
    id: 'G2.6/replay-does-not-prolong',
    title: 'a repeated claim leaves the end of its leases as it was',
    needs: (c) => unless(c.claimReplay, 'a claim cannot be repeated'),
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      const nonce = randomUUID();
      const leaseMs = ctx.shortLeaseMs;
      const lease = await ctx.claimOne(backend, queue, { leaseMs, nonce });
      await ctx.passTime(leaseMs * 0.7);
      await ctx.claim(backend, queue, { leaseMs, nonce });
      await ctx.passTime(leaseMs * 0.3 + 20);
      const [outcome] = await ctx.settleOnce(backend, [completion(lease)]);
      assert.equal(outcome?.status, 'lease-lost', 'after the first end of the lease');
      ctx.expectAttempt(await ctx.claimOne(backend, queue), 2);
    },
  }),
  define({
    id: 'G2.6/lost-answer',
    title: 'a claim whose answer was lost is repeated by nonce and charges nobody',
    hooks: ['network'],
    needs: (c) => unless(c.claimReplay, 'a claim cannot be repeated'),
    async run(ctx) {
      const network = await ctx.openNetwork();
      const queue = ctx.freshQueue();
      const jobs = await ctx.put(network.backend, queue, 3);
      const nonce = randomUUID();
      await network.dropAnswers();
      const asking = ctx.claim(network.backend, queue, { max: 3, nonce, timeoutMs: 1000 });
      await codeOf(ctx.within('a claim without an answer', 3000, asking));
      await network.heal();
      const leases = await ctx.eventually(
        async () => {
          const replay = await ctx.claim(network.backend, queue, { max: 3, nonce });
          return replay.leases.length === 3 && replay.leases;
        },
        { what: 'the repeated claim', withinMs: 15_000 },
      );
      everyOnce(idsOf(jobs), idsOf(leases), ctx.capabilities);
      assert.ok(
        leases.every(({ attempt }) => attempt === 1),
        'an attempt was charged',
      );
      await ctx.complete(network.backend, ...leases);
    },
  }),
  define({
    id: 'G2.7/grows',
    title: 'the fence of a job grows with every claim, however the last one ended',
    needs: (c) => unless(c.fence === 'monotonic', 'no fence'),
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const [job] = await ctx.put(backend, queue);
      assert.ok(job);
      const fences: number[] = [];
      const claim = async (leaseMs = ctx.leaseMs): Promise<Parameters<typeof ctx.retry>[1]> => {
        const lease = await ctx.claimOne(backend, queue, { leaseMs });
        fences.push(lease.token.fence);
        return lease;
      };
      await ctx.retry(backend, await claim());
      await ctx.release(backend, await claim(), 'stop');
      await claim(ctx.shortLeaseMs);
      await ctx.passLease(ctx.shortLeaseMs);
      await ctx.bury(backend, await claim());
      await backend.deadLetters.redrive(queue, { ids: [job.id] }, ctx.call);
      await ctx.complete(backend, await claim());
      for (const [index, fence] of fences.entries()) {
        assert.ok(
          Number.isSafeInteger(fence) && (index === 0 || fence > (fences[index - 1] ?? Infinity)),
          `fences ${fences.join(', ')}`,
        );
      }
    },
  }),
  define({
    id: 'G2.7/none-is-zero',
    title: 'without the capability every fence is 0, so that nobody can rely on it',
    needs: (c) => unless(c.fence === 'none', 'fences are monotonic'),
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      assert.equal((await ctx.claimOne(backend, queue)).token.fence, 0);
    },
  }),
];

function byId<T extends { readonly id: string }>(leases: readonly T[]): readonly T[] {
  return leases.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
