import assert from 'node:assert/strict';
import { type Case, define, unless } from '../case.ts';
import type { Context } from '../context.ts';
import { deadLetter, everyOnce, expectCounts, idsOf } from './expectations.ts';

const durable = (c: Context['capabilities']): true | string =>
  unless(c.durability !== 'memory', 'the store keeps nothing over a restart, and says so');

/** G1.5: accepted jobs outlive the store's own end. */
export const restartCases: readonly Case[] = [
  define({
    id: 'G1.5/everything-closed',
    title: 'jobs are there after every backend was closed and a new one opened',
    needs: durable,
    async run(ctx) {
      const first = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const jobs = await ctx.put(first, queue, 10);
      await first.close({ graceMs: 1000 });
      const second = await ctx.openBackend();
      everyOnce(idsOf(jobs), idsOf(await ctx.claimAll(second, queue, 10)), ctx.capabilities);
    },
  }),
  define({
    id: 'G1.5/restart',
    title: 'a clean restart of the store loses nothing: jobs, leases, dead letters, pauses',
    hooks: ['server'],
    cost: 'slow',
    needs: durable,
    async run(ctx) {
      const backend = await ctx.openBackend();
      const [queue, paused] = [ctx.freshQueue(), ctx.freshQueue()];
      const [buried] = await ctx.dead(backend, queue);
      assert.ok(buried);
      const jobs = await ctx.put(backend, queue, 30);
      await ctx.put(backend, queue, 2, { delayMs: Math.min(3_600_000, ctx.capabilities.delay.maxMs) });
      const held = await ctx.claimAll(backend, queue, 5);
      await backend.pacing.pause(paused, ctx.call);
      await ctx.harness.server?.stop();
      await ctx.harness.server?.start();
      const after = await ctx.openBackend();
      assert.equal((await deadLetter(ctx, after, queue, buried.id)).id, buried.id);
      assert.deepEqual(await after.pacing.state(paused, ctx.call), { paused: true });
      if (ctx.capabilities.lease.endsBy !== 'time') return void (await ctx.claimAll(after, queue, 30));
      await expectCounts(ctx, after, queue, { ready: 25, scheduled: 2, leased: 5, dead: 1 });
      const rest = await ctx.claimAll(after, queue, 25);
      everyOnce(idsOf(jobs), [...idsOf(held), ...idsOf(rest)], ctx.capabilities);
      // The leases outlived it too: their holder settles as if nothing had been.
      await ctx.eventually(async () => (await ctx.complete(backend, ...held), true), {
        what: 'the holder settles after the restart',
        withinMs: 20_000,
      });
    },
  }),
  define({
    id: 'G1.5/killed-under-load',
    title: 'a kill -9 of the store under load: every accepted job is there',
    covers: ['B025'],
    hooks: ['server'],
    cost: 'slow',
    needs: durable,
    async run(ctx) {
      const producers = await ctx.rivals(4);
      const queue = ctx.freshQueue();
      const accepted = new Set<string>();
      const sent = new Set<string>();
      let producing = true;
      const loops = producers.map(async (producer) => {
        while (producing) {
          const jobs = [ctx.newJob(queue), ctx.newJob(queue), ctx.newJob(queue)];
          for (const { id } of jobs) sent.add(id);
          const outcomes = await producer.enqueue(jobs, { timeoutMs: 1000 }).catch(() => []);
          for (const { id, status } of outcomes) if (status === 'accepted') accepted.add(id);
          if (outcomes.length === 0) await ctx.passTime(20);
        }
      });
      await ctx.eventually(async () => accepted.size > 100, {
        what: 'producers are under way',
        withinMs: 20_000,
      });
      await ctx.harness.server?.kill();
      await ctx.harness.server?.start();
      const before = accepted.size;
      await ctx.eventually(async () => accepted.size > before + 30, {
        what: 'producers go on after the kill',
        withinMs: 30_000,
      });
      producing = false;
      await Promise.all(loops);
      const observer = await ctx.openBackend();
      const found: string[] = [];
      await ctx.eventually(
        async () => {
          const { leases } = await ctx.claim(observer, queue, {
            max: Math.min(100, ctx.capabilities.batch.maxItems),
          });
          found.push(...idsOf(leases));
          const have = new Set(found);
          return [...accepted].every((id) => have.has(id));
        },
        { what: 'every accepted job is claimed', withinMs: 30_000, everyMs: 1 },
      );
      assert.deepEqual(
        found.filter((id) => !sent.has(id)),
        [],
        'jobs that nobody enqueued',
      );
      if (ctx.capabilities.moves === 'atomic')
        assert.equal(new Set(found).size, found.length, 'a job came twice');
    },
  }),
];
