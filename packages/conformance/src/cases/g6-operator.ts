import assert from 'node:assert/strict';
import type { Backend } from '@surety/core/contract';
import { type Case, define, unless } from '../case.ts';
import { jobError } from '../context.ts';
import { allDead, deadLetter, everyOnce, expectCounts, idsOf } from './expectations.ts';

/** G6.3 to G6.5: what an operator does with dead letters. */
export const operatorCases: readonly Case[] = [
  define({
    id: 'G6.3/starts-anew',
    title: 'a redriven job starts anew with id, key, payload, headers and history',
    covers: ['B068'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const [job] = await ctx.put(backend, queue, 1, {
        payload: '{"p":1}',
        headers: { h: '1' },
        idempotencyKey: 'k',
        maxAttempts: 3,
      });
      assert.ok(job);
      await ctx.retry(backend, await ctx.claimOne(backend, queue), 0, jobError('old 1'));
      await ctx.bury(backend, await ctx.claimOne(backend, queue), jobError('old 2'));
      const before = await deadLetter(ctx, backend, queue, job.id);
      assert.deepEqual(await backend.deadLetters.redrive(queue, { ids: [job.id] }, ctx.call), [
        { status: 'redriven', id: job.id },
      ]);
      await expectCounts(ctx, backend, queue, { ready: 1, dead: 0 });
      // Two failures and a success: the new life has all its attempts.
      for (let attempt = 1; attempt <= 2; attempt++) {
        const lease = await ctx.claimOne(backend, queue);
        ctx.expectAttempt(lease, attempt);
        assert.deepEqual(
          [lease.redrives, lease.lostClaims, lease.interruptions, lease.maxAttempts],
          [1, 0, 0, 3],
        );
        assert.deepEqual(
          [lease.id, lease.idempotencyKey, { ...lease.headers }, lease.payload],
          [job.id, 'k', { h: '1' }, { value: { p: 1 } }],
        );
        assert.ok(lease.deliveries > before.deliveries);
        if (attempt === 1) await ctx.retry(backend, lease, 0, jobError('new 1'));
        else await ctx.bury(backend, lease, jobError('new 2'));
      }
      const after = await deadLetter(ctx, backend, queue, job.id);
      assert.deepEqual(
        after.history.map((entry) => entry.error.message),
        ['old 1', 'old 2', 'new 1', 'new 2'],
      );
      assert.equal(after.redrives, 1);
      await backend.deadLetters.redrive(queue, { ids: [job.id] }, ctx.call);
      assert.equal((await ctx.claimOne(backend, queue)).redrives, 2);
    },
  }),
  define({
    id: 'G6.3/by-ids',
    title: 'a redrive by ids answers each in order; unknown, live and repeated ones are not found',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const [a, b, c] = await ctx.dead(backend, queue, 3);
      const [live] = await ctx.put(backend, queue);
      assert.ok(a && b && c && live);
      const ids = [b.id, '00000000-0000-4000-8000-000000000000', a.id, live.id, b.id];
      const outcomes = await backend.deadLetters.redrive(queue, { ids }, ctx.call);
      assert.deepEqual(idsOf(outcomes), ids);
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['redriven', 'not-found', 'redriven', 'not-found', 'not-found'],
      );
      everyOnce(idsOf([a, b, live]), idsOf(await ctx.claimAll(backend, queue, 3)), ctx.capabilities);
      assert.deepEqual(idsOf(await allDead(ctx, backend, queue)), [c.id]);
    },
  }),
  define({
    id: 'G6.3/by-selection',
    title: 'a redrive by selection, repeated, moves all of a type, at most its limit at once, and ends',
    covers: ['B068'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const wanted = await ctx.dead(backend, queue, 25, { type: 'wanted' });
      await ctx.dead(backend, queue, 2, { type: 'other' });
      const moved = await repeat(
        () => backend.deadLetters.redrive(queue, { type: 'wanted', limit: 10 }, ctx.call),
        'redriven',
      );
      everyOnce(idsOf(wanted), moved, ctx.capabilities);
      everyOnce(idsOf(wanted), idsOf(await ctx.claimAll(backend, queue, 25)), ctx.capabilities);
      await expectCounts(ctx, backend, queue, { dead: 2, ready: 0, leased: 25 });
    },
  }),
  define({
    id: 'G6.4/rivals',
    title: 'eight operators redrive the same entries at once: each is moved once',
    covers: ['B068'],
    async run(ctx) {
      const rivals = await ctx.rivals(8);
      const [first] = rivals;
      assert.ok(first);
      const queue = ctx.freshQueue();
      const jobs = await ctx.dead(first, queue, 10);
      const ids = idsOf(jobs);
      const answers = await Promise.all(
        rivals.map((rival, n) => {
          const selection =
            n % 2 === 0 ? { ids: n % 4 === 0 ? ids : ids.toReversed() } : { type: null, limit: 10 };
          return rival.deadLetters.redrive(queue, selection, ctx.call);
        }),
      );
      everyOnce(ids, idsOf(answers.flat().filter(({ status }) => status === 'redriven')), ctx.capabilities);
      const leases = await ctx.claimAll(first, queue, 10);
      everyOnce(ids, idsOf(leases), ctx.capabilities);
      assert.ok(leases.every(({ redrives }) => redrives === 1));
      await ctx.claimNone(first, queue, 'ten were redriven');
    },
  }),
  define({
    id: 'G6.4/redrive-against-discard',
    title: 'a redrive and a discard at once: each entry goes one way',
    needs: (c) => unless(c.moves === 'atomic', 'a copy may go both ways'),
    async run(ctx) {
      const [a, b] = [await ctx.openBackend(), await ctx.openBackend()];
      const queue = ctx.freshQueue();
      const ids = idsOf(await ctx.dead(a, queue, 20));
      const [redriven, discarded] = await Promise.all([
        a.deadLetters.redrive(queue, { ids }, ctx.call),
        b.deadLetters.discard(queue, { ids }, ctx.call),
      ]);
      const up = idsOf(redriven.filter(({ status }) => status === 'redriven'));
      const gone = idsOf(discarded.filter(({ status }) => status === 'discarded'));
      everyOnce(ids, [...up, ...gone], ctx.capabilities);
      everyOnce(up, idsOf(await ctx.claimAll(a, queue, up.length)), ctx.capabilities);
      await ctx.claimNone(a, queue, 'the others were discarded');
    },
  }),
  define({
    id: 'G6.5/gone',
    title: 'a discarded dead letter is gone from every view, for good',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const [a, b] = await ctx.dead(backend, queue, 2);
      assert.ok(a && b);
      const ids = [a.id, '00000000-0000-4000-8000-000000000000'];
      const outcomes = await backend.deadLetters.discard(queue, { ids }, ctx.call);
      assert.deepEqual(outcomes, [
        { status: 'discarded', id: a.id },
        { status: 'not-found', id: ids[1] },
      ]);
      assert.equal(await backend.deadLetters.show(queue, a.id, ctx.call), null);
      assert.deepEqual(idsOf(await allDead(ctx, backend, queue)), [b.id]);
      await expectCounts(ctx, backend, queue, { dead: 1, ready: 0 });
      if (backend.lookup) assert.equal(await backend.lookup.find(queue, a.id, ctx.call), null);
      const [late] = await backend.deadLetters.redrive(queue, { ids: [a.id] }, ctx.call);
      assert.equal(late?.status, 'not-found');
      // Its id is free: nothing of it is left behind.
      await ctx.accept(backend, [a]);
      ctx.expectAttempt(await ctx.claimOne(backend, queue), 1);
    },
  }),
  define({
    id: 'G6.5/by-selection',
    title: 'a discard by selection, repeated, removes all of a type and ends',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const gone = await ctx.dead(backend, queue, 12, { type: 'old' });
      const kept = await ctx.dead(backend, queue, 3, { type: 'kept' });
      const removed = await repeat(
        () => backend.deadLetters.discard(queue, { type: 'old', limit: 5 }, ctx.call),
        'discarded',
      );
      everyOnce(idsOf(gone), removed, ctx.capabilities);
      everyOnce(idsOf(kept), idsOf(await allDead(ctx, backend, queue)), ctx.capabilities);
      await ctx.claimNone(backend, queue, 'discarded jobs do not run');
    },
  }),
];

type Selected = Awaited<ReturnType<Backend['deadLetters']['redrive']>>;

/** Repeats a selection until nothing more is moved, as an operator's tool does. */
async function repeat(
  step: () => Promise<Selected | readonly { status: string; id: string }[]>,
  status: string,
): Promise<readonly string[]> {
  const moved: string[] = [];
  for (let round = 0; round < 20; round++) {
    const ids = idsOf((await step()).filter((outcome) => outcome.status === status));
    if (ids.length === 0) return moved;
    moved.push(...ids);
  }
  throw new Error('a selection that never ends');
}
