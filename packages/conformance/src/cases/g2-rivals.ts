import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Backend, Lease } from '@surety/core/contract';
import { type Case, define } from '../case.ts';
import type { Context } from '../context.ts';
import { completion } from '../stage/settling.ts';
import { everyOnce, idsOf } from './expectations.ts';

/**
 * Watches who holds what. A lease surely holds from the answer of its claim until it was sent to be settled, or until
 * its length has passed since the claim was sent, whatever comes first. Another answer with the same job in that time is a double.
 */
class Holders {
  readonly #ends = new Map<string, number>();
  readonly doubles: string[] = [];
  readonly claimed: string[] = [];

  took(leases: readonly Lease[], now: number, surelyUntil: number): void {
    for (const { id } of leases) {
      if ((this.#ends.get(id) ?? 0) > now) this.doubles.push(id);
      this.#ends.set(id, surelyUntil);
      this.claimed.push(id);
    }
  }

  lets(leases: readonly Lease[]): void {
    for (const { id } of leases) this.#ends.delete(id);
  }
}

async function claimWatched(
  ctx: Context,
  holders: Holders,
  backend: Backend,
  queue: string,
  options: { readonly max: number; readonly leaseMs: number },
): Promise<readonly Lease[]> {
  const sent = ctx.nowAtLeast();
  const { leases } = await ctx.claim(backend, queue, options);
  holders.took(leases, ctx.now(), sent + options.leaseMs);
  return leases;
}

/** G2.2 and G2.9: eight rivals on connections of their own. */
export const rivalCases: readonly Case[] = [
  define({
    id: 'G2.2/eight-drain',
    title: 'eight rivals drain a queue: no job is held by two, each is done once',
    covers: ['B010'],
    async run(ctx) {
      const rivals = await ctx.rivals(8);
      const [first] = rivals;
      assert.ok(first);
      const queue = ctx.freshQueue();
      const jobs = await ctx.put(first, queue, 400);
      const holders = new Holders();
      const done: string[] = [];
      await Promise.all(
        rivals.map(async (rival) => {
          for (let empty = 0; empty < 5 && done.length < jobs.length; ) {
            const max = ctx.random.int(1, 7);
            const leases = await claimWatched(ctx, holders, rival, queue, { max, leaseMs: ctx.leaseMs });
            empty = leases.length === 0 ? empty + 1 : 0;
            await ctx.passTime(ctx.random.int(0, 2));
            holders.lets(leases);
            await ctx.complete(rival, ...leases);
            done.push(...idsOf(leases));
          }
        }),
      );
      assert.deepEqual(holders.doubles, [], 'jobs held by two rivals');
      done.push(...idsOf(await ctx.claimAll(first, queue, jobs.length - new Set(done).size)));
      everyOnce(idsOf(jobs), done, ctx.capabilities);
    },
  }),
  define({
    id: 'G2.2/eight-for-one',
    title: 'eight rivals ask for one job at once: one gets it',
    async run(ctx) {
      const rivals = await ctx.rivals(8);
      const [first] = rivals;
      assert.ok(first);
      const queue = ctx.freshQueue();
      for (let round = 0; round < 20; round++) {
        const [job] = await ctx.put(first, queue);
        const holders = new Holders();
        let got: readonly { readonly rival: Backend; readonly lease: Lease }[] = [];
        await ctx.eventually(
          async () => {
            const answers = await Promise.all(
              rivals.map(async (rival) => {
                const leases = await claimWatched(ctx, holders, rival, queue, {
                  max: 3,
                  leaseMs: ctx.leaseMs,
                });
                return leases.map((lease) => ({ rival, lease }));
              }),
            );
            got = answers.flat();
            return got.length > 0;
          },
          { what: 'one rival gets the job', withinMs: 10_000 },
        );
        assert.deepEqual(holders.doubles, [], 'a job held by two rivals');
        if (ctx.capabilities.moves === 'atomic')
          assert.deepEqual(
            got.map(({ lease }) => lease.id),
            [job?.id],
          );
        for (const { rival, lease } of got) await ctx.complete(rival, lease);
      }
    },
  }),
  define({
    id: 'G2.2/tight-expiry',
    title: 'four workers with leases that end under them: each job ends once, none is held twice or lost',
    covers: ['B010', 'B007'],
    async run(ctx) {
      const rivals = await ctx.rivals(4);
      const [first] = rivals;
      assert.ok(first);
      const queue = ctx.freshQueue();
      const jobs = await ctx.put(first, queue, 200);
      const holders = new Holders();
      const settled: string[] = [];
      // Their answers were lost: done or not, they may not run again.
      const unclear = new Set<string>();
      const leaseMs = ctx.capabilities.lease.minMs;
      const limit = performance.now() + 45_000;
      await Promise.all(
        rivals.map(async (rival) => {
          while (new Set([...settled, ...unclear]).size < jobs.length && performance.now() < limit) {
            const leases = await claimWatched(ctx, holders, rival, queue, { max: 10, leaseMs });
            if (leases.length === 0) await ctx.passTime(Math.min(20, leaseMs));
            // One in eight claims is held past its end: its settlements race with the expiry.
            if (leases.length > 0 && ctx.random.next() < 0.125)
              await ctx.passTime(leaseMs + ctx.random.int(-3, 3));
            holders.lets(leases);
            const outcomes = await ctx.settleOnce(rival, leases.map(completion));
            settled.push(...idsOf(leases.filter((_, index) => outcomes[index]?.status === 'settled')));
            for (const { id } of leases.filter((_, index) => outcomes[index]?.status === 'unknown'))
              unclear.add(id);
          }
        }),
      );
      assert.deepEqual(holders.doubles, [], 'jobs held by two rivals');
      if (ctx.capabilities.moves === 'atomic') assert.equal(unclear.size, 0, 'answers lost without a fault');
      everyOnce(idsOf(jobs), [...settled, ...unclear], ctx.capabilities);
      if (unclear.size > 0) return;
      await ctx.claimNone(first, queue, 'all were completed');
    },
  }),
  define({
    id: 'G2.2/never-more-than-asked',
    title: 'a claim returns at most what was asked for',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue, 12);
      for (const max of [1, 2, 3]) await ctx.claimAll(backend, queue, max, { max });
      await ctx.claimAll(backend, queue, 6);
      await ctx.claimNone(backend, queue, 'all twelve are held');
    },
  }),
  define({
    id: 'G2.9/settles-and-claims',
    title: 'settle and claim in one call do what the two do apart',
    run: (ctx) =>
      withFastPath(ctx, async (backend, both) => {
        const queue = ctx.freshQueue();
        await ctx.put(backend, queue, 6);
        const [a, b, c] = await ctx.claimAll(backend, queue, 3);
        assert.ok(a && b && c);
        const stale = { ...c, token: { ...c.token, nonce: '00000000-0000-4000-8000-000000000000' } };
        const answer = await both(
          [completion(a), { kind: 'release', lease: b, delayMs: 0, reason: 'stop' }, completion(stale)],
          queue,
          2,
        );
        assert.deepEqual(
          answer.outcomes.map(({ status }) => status),
          ['settled', 'settled', 'lease-lost'],
        );
        assert.ok(answer.claim.leases.length <= 2 && !answer.claim.paused);
        const rest = await ctx.claimAll(backend, queue, 4 - answer.claim.leases.length);
        const all = [...answer.claim.leases, ...rest];
        assert.equal(new Set(idsOf(all)).size, 4);
        assert.deepEqual(
          all.filter(({ id }) => id === b.id).map((lease) => [lease.attempt, lease.interruptions]),
          [[1, 1]],
        );
        const last = await both([...all, c].map(completion), queue, 5);
        assert.ok(last.outcomes.every(({ status }) => status === 'settled'));
        assert.deepEqual(last.claim.leases, []);
      }),
  }),
  define({
    id: 'G2.9/paused',
    title: 'on a paused queue the one call settles and claims nothing',
    run: (ctx) =>
      withFastPath(ctx, async (backend, both) => {
        const queue = ctx.freshQueue();
        await ctx.put(backend, queue, 2);
        const lease = await ctx.claimOne(backend, queue);
        await backend.pacing.pause(queue, ctx.call);
        const { outcomes, claim } = await both([completion(lease)], queue, 5);
        assert.equal(outcomes[0]?.status, 'settled');
        assert.deepEqual([claim.leases, claim.paused], [[], true]);
      }),
  }),
  define({
    id: 'G2.9/expired',
    title: 'in the one call an ended lease is lost, and its job may be claimed by the same call',
    run: (ctx) =>
      withFastPath(ctx, async (backend, both) => {
        const queue = ctx.freshQueue();
        await ctx.put(backend, queue);
        const stale = await ctx.claimOne(backend, queue, { leaseMs: ctx.shortLeaseMs });
        await ctx.passLease(ctx.shortLeaseMs);
        const { outcomes, claim } = await both([completion(stale)], queue, 1);
        assert.equal(outcomes[0]?.status, 'lease-lost');
        const lease = claim.leases[0] ?? (await ctx.claimOne(backend, queue));
        ctx.expectAttempt(lease, 2);
        await ctx.complete(backend, lease);
      }),
  }),
  define({
    id: 'G2.9/eight-drain',
    title: 'eight rivals drain by the one call: no job is held by two, each is done once',
    covers: ['B010'],
    run: (ctx) =>
      withFastPath(ctx, async (first) => {
        const rivals = await ctx.rivals(8);
        const queue = ctx.freshQueue();
        const jobs = await ctx.put(first, queue, 300);
        const holders = new Holders();
        const done: string[] = [];
        await Promise.all(
          rivals.map(async (rival) => {
            let held: readonly Lease[] = [];
            for (let empty = 0; empty < 4 || held.length > 0; ) {
              const sent = ctx.now();
              holders.lets(held);
              const { outcomes, claim } = await fastPathOf(ctx, rival)(
                held.map(completion),
                queue,
                ctx.random.int(1, 8),
              );
              done.push(...idsOf(held.filter((_, index) => outcomes[index]?.status === 'settled')));
              holders.took(claim.leases, ctx.now(), sent + ctx.leaseMs);
              held = claim.leases;
              empty = held.length === 0 ? empty + 1 : 0;
              await ctx.passTime(1);
            }
          }),
        );
        assert.deepEqual(holders.doubles, [], 'jobs held by two rivals');
        done.push(...idsOf(await ctx.claimAll(first, queue, jobs.length - new Set(done).size)));
        everyOnce(idsOf(jobs), done, ctx.capabilities);
      }),
  }),
];

type Both = (
  settlements: Parameters<Backend['settle']>[0],
  queue: string,
  max: number,
) => ReturnType<NonNullable<Backend['settleAndClaim']>>;

/** The fast path is no capability: a backend without it keeps the clause by having nothing that could differ. */
async function withFastPath(
  ctx: Context,
  ask: (backend: Backend, both: Both) => Promise<void>,
): Promise<void> {
  const backend = await ctx.openBackend();
  if (backend.settleAndClaim !== undefined) await ask(backend, fastPathOf(ctx, backend));
}

function fastPathOf(ctx: Context, backend: Backend): Both {
  return async (settlements, queue, max) => {
    const request = {
      queue,
      max,
      leaseMs: ctx.leaseMs,
      waitMs: 0,
      nonce: randomUUID(),
      signal: null,
      ...ctx.call,
    };
    const answer = await backend.settleAndClaim?.(settlements, request);
    assert.ok(answer);
    return answer;
  };
}
