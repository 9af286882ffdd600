import assert from 'node:assert/strict';
import { type Case, define } from '../case.ts';
import { jobError } from '../context.ts';
import { deadLetter, lose } from './expectations.ts';

/** G4.5 to G4.8: what core needs to know of a job to end it. */
export const limitCases: readonly Case[] = [
  define({
    id: 'G4.5/past-the-limit',
    title: 'a job past its limit is handed out like any other, so that core can bury it',
    covers: ['B046'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const [job] = await ctx.put(backend, queue, 1, { maxAttempts: 1 });
      await lose(ctx, backend, queue);
      const lease = await ctx.claimOne(backend, queue);
      assert.deepEqual([lease.id, lease.maxAttempts], [job?.id, 1]);
      ctx.expectAttempt(lease, 2);
      await ctx.bury(
        backend,
        lease,
        jobError('The worker was lost.', { code: 'WORKER_LOST', attempt: lease.attempt }),
      );
      const dead = await deadLetter(ctx, backend, queue, lease.id);
      assert.equal(dead.reason, 'WORKER_LOST');
    },
  }),
  define({
    id: 'G4.6/interruptions',
    title: 'only a release of a started job counts as interruption, and a redrive clears the count',
    covers: ['B039'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const [job] = await ctx.put(backend, queue);
      assert.ok(job);
      for (let n = 0; n < 5; n++) {
        const lease = await ctx.claimOne(backend, queue);
        assert.deepEqual([lease.interruptions, lease.attempt], [n, 1]);
        await ctx.release(backend, lease, 'stop');
      }
      for (const reason of ['unstarted', 'unknown-type', 'loss-backoff', 'snooze'] as const) {
        await ctx.release(backend, await ctx.claimOne(backend, queue), reason);
      }
      const lease = await ctx.claimOne(backend, queue);
      assert.equal(lease.interruptions, 5);
      await ctx.bury(backend, lease);
      await deadLetter(ctx, backend, queue, job.id);
      await backend.deadLetters.redrive(queue, { ids: [job.id] }, ctx.call);
      assert.equal((await ctx.claimOne(backend, queue)).interruptions, 0);
    },
  }),
  define({
    id: 'G4.7/age-of-unknown-type',
    title: 'the time a type is unknown counts from its first release, kept by unstarted, cleared by others',
    covers: ['B048'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      await ctx.release(backend, await ctx.claimOne(backend, queue), 'unknown-type');
      await ctx.passTime(500);
      const second = await ctx.claimOne(backend, queue);
      assert.ok((second.unknownTypeForMs ?? 0) >= 450, `known for ${second.unknownTypeForMs} ms`);
      assert.equal(second.attempt, 1);
      await ctx.release(backend, second, 'unknown-type');
      await ctx.release(backend, await ctx.claimOne(backend, queue), 'unstarted');
      await ctx.passTime(500);
      const third = await ctx.claimOne(backend, queue);
      assert.ok((third.unknownTypeForMs ?? 0) >= 900, `known for ${third.unknownTypeForMs} ms`);
      for (const reason of ['stop', 'snooze', 'loss-backoff'] as const) {
        const held = reason === 'stop' ? third : await ctx.claimOne(backend, queue);
        await ctx.release(backend, held, reason);
        const clean = await ctx.claimOne(backend, queue);
        assert.equal(clean.unknownTypeForMs, null, `after ${reason}`);
        await ctx.release(backend, clean, 'unknown-type');
      }
    },
  }),
  define({
    id: 'G4.8/loss-backoff',
    title: 'putting a lost job back with backoff is remembered until it is lost again or settled',
    covers: ['B046'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      await lose(ctx, backend, queue);
      await lose(ctx, backend, queue);
      const lost = await ctx.claimOne(backend, queue);
      assert.deepEqual([lost.lostClaims, lost.lossBackedOff], [2, false]);
      await ctx.release(backend, lost, 'loss-backoff', Math.min(200, ctx.capabilities.delay.maxMs));
      const backed = await ctx.claimOne(backend, queue, { leaseMs: ctx.shortLeaseMs });
      assert.deepEqual([backed.lostClaims, backed.lossBackedOff], [2, true]);
      ctx.expectAttempt(backed, 3);
      await ctx.passLease(ctx.shortLeaseMs);
      const again = await ctx.claimOne(backend, queue);
      assert.deepEqual([again.lostClaims, again.lossBackedOff], [3, false]);
    },
  }),
];
