import assert from 'node:assert/strict';
import type { Backend, Capabilities, NewJob } from '@surety/core/contract';
import { type Case, define, unless } from '../case.ts';
import type { Context } from '../context.ts';
import { deadLetter, idsOf } from './expectations.ts';

const known = (c: Capabilities): true | string =>
  unless(c.idempotentEnqueue !== 'none', 'enqueue does not know an id again');
const dedupes = (c: Capabilities): true | string => unless(c.dedupe !== 'none', 'no dedupe');

/** Short enough to wait out. */
const WINDOW_MS = 1500;
const LONG_WINDOW_MS = 600_000;

/** G3: keys, ids and de-duplication. */
export const idempotencyCases: readonly Case[] = [
  define({
    id: 'G3.1/key-over-all-roads',
    title: 'the idempotency key, id and headers are the same over retry, release, loss and redrive',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const headers = { a: '1', b: 'ü' };
      const [job] = await ctx.put(backend, queue, 1, {
        idempotencyKey: 'invoice/42',
        headers,
        payload: '{"k":[1,2]}',
      });
      assert.ok(job);
      const next = async (leaseMs = ctx.leaseMs): Promise<Parameters<Context['retry']>[1]> => {
        const lease = await ctx.claimOne(backend, queue, { leaseMs });
        assert.deepEqual(
          { id: lease.id, key: lease.idempotencyKey, headers: { ...lease.headers }, payload: lease.payload },
          { id: job.id, key: 'invoice/42', headers, payload: { value: { k: [1, 2] } } },
        );
        return lease;
      };
      await ctx.retry(backend, await next());
      await ctx.release(backend, await next(), 'stop');
      await next(ctx.shortLeaseMs);
      await ctx.passLease(ctx.shortLeaseMs);
      await ctx.bury(backend, await next());
      await deadLetter(ctx, backend, queue, job.id);
      await backend.deadLetters.redrive(queue, { ids: [job.id] }, ctx.call);
      await ctx.complete(backend, await next());
    },
  }),
  define({
    id: 'G3.2/while-present',
    title: 'an id that is ready, scheduled, leased or dead answers duplicate of itself and changes nothing',
    needs: known,
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const [ready] = await ctx.put(backend, queue, 1, { payload: '"first"' });
      assert.ok(ready);
      await again(ctx, backend, { ...ready, payload: '"second"' });
      const lease = await ctx.claimOne(backend, queue);
      assert.deepEqual(lease.payload, { value: 'first' });
      await again(ctx, backend, ready);
      await ctx.retry(
        backend,
        lease,
        ctx.capabilities.delay.maxMs > 60_000 ? 60_000 : ctx.capabilities.delay.maxMs,
      );
      await again(ctx, backend, ready);
      const [dead] = await ctx.dead(backend, queue);
      assert.ok(dead);
      await again(ctx, backend, dead);
      await ctx.claimNone(backend, queue, 'duplicates store nothing');
    },
  }),
  define({
    id: 'G3.2/free-after-end',
    title: 'after a job has completed or was discarded its id can be enqueued again',
    needs: known,
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const [job] = await ctx.put(backend, queue);
      assert.ok(job);
      await ctx.complete(backend, await ctx.claimOne(backend, queue));
      await ctx.accept(backend, [job]);
      const lease = await ctx.claimOne(backend, queue);
      ctx.expectAttempt(lease, 1);
      await ctx.bury(backend, lease);
      await deadLetter(ctx, backend, queue, job.id);
      await backend.deadLetters.discard(queue, { ids: [job.id] }, ctx.call);
      await ctx.accept(backend, [job]);
    },
  }),
  define({
    id: 'G3.2/rivals',
    title: 'eight producers enqueue the same ids at once: one is accepted, seven are duplicates',
    covers: ['B041'],
    needs: known,
    async run(ctx) {
      const rivals = await ctx.rivals(8);
      const [first] = rivals;
      assert.ok(first);
      const queue = ctx.freshQueue();
      for (let round = 0; round < 8; round++) {
        const jobs = Array.from({ length: 4 }, () => ctx.newJob(queue));
        const answers = await Promise.all(
          rivals.map((rival, n) => ctx.enqueue(rival, n % 2 === 0 ? jobs : jobs.toReversed())),
        );
        for (const { id } of jobs) {
          const own = answers.flat().filter((outcome) => outcome.id === id);
          assert.equal(
            own.filter(({ status }) => status === 'accepted').length,
            1,
            'times one id was accepted',
          );
          assert.ok(
            own.every(
              (outcome) =>
                outcome.status === 'accepted' || (outcome.status === 'duplicate' && outcome.of === id),
            ),
          );
        }
      }
      await ctx.claimAll(first, queue, 32);
      await ctx.claimNone(first, queue, '32 jobs were stored');
    },
  }),
  define({
    id: 'G3.3/one-per-key',
    title: 'a key admits one job; the others learn its id, running or done',
    covers: ['B127'],
    needs: dedupes,
    async run(ctx) {
      const backend = await ctx.openBackend();
      const [queue, other] = [ctx.freshQueue(), ctx.freshQueue()];
      const keyed = (name = queue): NewJob =>
        ctx.newJob(name, { dedupe: { key: 'order 17 ✓', windowMs: longWindow(ctx) } });
      const first = keyed();
      await ctx.accept(backend, [first]);
      await refusedFor(ctx, backend, keyed(), first.id);
      const lease = await ctx.claimOne(backend, queue);
      await refusedFor(ctx, backend, keyed(), first.id);
      await ctx.complete(backend, lease);
      await refusedFor(ctx, backend, keyed(), first.id);
      assert.equal(await backend.dedupe?.owner(queue, 'order 17 ✓', ctx.call), first.id);
      assert.equal(await backend.dedupe?.owner(queue, 'order 18', ctx.call), null);
      await ctx.accept(backend, [keyed(other)]);
      await ctx.claimNone(backend, queue, 'the key was taken');
    },
  }),
  define({
    id: 'G3.3/in-one-batch',
    title: 'one key twice in a batch: the first is accepted, the second a duplicate of it',
    needs: dedupes,
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const dedupe = { key: 'k', windowMs: longWindow(ctx) };
      const [a, b, c] = [ctx.newJob(queue, { dedupe }), ctx.newJob(queue, { dedupe }), ctx.newJob(queue)];
      const outcomes = await ctx.enqueue(backend, [a, b, c]);
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['accepted', 'duplicate', 'accepted'],
      );
      assert.equal(outcomes[1]?.status === 'duplicate' && outcomes[1].of, a.id);
    },
  }),
  define({
    id: 'G3.3/rivals',
    title: 'eight producers with one key at once: one job is stored, all learn its id',
    needs: dedupes,
    async run(ctx) {
      const rivals = await ctx.rivals(8);
      const [first] = rivals;
      assert.ok(first);
      const queue = ctx.freshQueue();
      for (let round = 0; round < 12; round++) {
        const dedupe = { key: `k${round}`, windowMs: longWindow(ctx) };
        const answers = await Promise.all(
          rivals.map((rival) => ctx.enqueue(rival, [ctx.newJob(queue, { dedupe })])),
        );
        const accepted = answers.flat().filter(({ status }) => status === 'accepted');
        assert.equal(accepted.length, 1, 'jobs accepted under one key');
        const owners = new Set(
          answers.flat().map((outcome) => (outcome.status === 'duplicate' ? outcome.of : outcome.id)),
        );
        assert.deepEqual([...owners], idsOf(accepted));
      }
      await ctx.claimAll(first, queue, 12);
      await ctx.claimNone(first, queue, 'twelve keys admit twelve jobs');
    },
  }),
  define({
    id: 'G3.3/forget',
    title: 'a forgotten key is free at once',
    covers: ['B129'],
    needs: dedupes,
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const dedupe = { key: 'k', windowMs: longWindow(ctx) };
      await ctx.put(backend, queue, 1, { dedupe });
      await backend.dedupe?.forget(queue, 'k', ctx.call);
      await backend.dedupe?.forget(queue, 'never used', ctx.call);
      assert.equal(await backend.dedupe?.owner(queue, 'k', ctx.call), null);
      await ctx.put(backend, queue, 1, { dedupe });
      await ctx.claimAll(backend, queue, 2);
    },
  }),
  define({
    id: 'G3.3/redrive-conflict',
    title: 'a dead job whose key was taken meanwhile stays dead and says by whom',
    needs: dedupes,
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const dedupe = { key: 'k', windowMs: longWindow(ctx) };
      const [dead] = await ctx.dead(backend, queue, 1, { dedupe });
      assert.ok(dead);
      await backend.dedupe?.forget(queue, 'k', ctx.call);
      const [taker] = await ctx.put(backend, queue, 1, { dedupe });
      const outcomes = await backend.deadLetters.redrive(queue, { ids: [dead.id] }, ctx.call);
      assert.deepEqual(outcomes, [{ status: 'conflict', id: dead.id, of: taker?.id }]);
      await deadLetter(ctx, backend, queue, dead.id);
      await backend.dedupe?.forget(queue, 'k', ctx.call);
      const freed = await backend.deadLetters.redrive(queue, { ids: [dead.id] }, ctx.call);
      assert.deepEqual(freed, [{ status: 'redriven', id: dead.id }]);
    },
  }),
  define({
    id: 'G3.3/limits',
    title: 'a window at the limit is accepted, one above it is refused',
    needs: dedupes,
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const { dedupe } = ctx.capabilities;
      assert.ok(dedupe !== 'none');
      await ctx.put(backend, queue, 1, { dedupe: { key: 'most', windowMs: dedupe.maxWindowMs } });
      const [outcome] = await ctx.enqueue(backend, [
        ctx.newJob(queue, { dedupe: { key: 'more', windowMs: dedupe.maxWindowMs + 1 } }),
      ]);
      assert.ok(outcome?.status === 'rejected', `a window above the limit was ${outcome?.status}`);
      assert.equal(outcome.error.code, 'LIMIT_EXCEEDED');
    },
  }),
  define({
    id: 'G3.3/refused-where-not-claimed',
    title: 'a dedupe key is refused, not ignored, where the capability is missing',
    needs: (c) => unless(c.dedupe === 'none', 'dedupe is offered'),
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const jobs = [ctx.newJob(queue, { dedupe: { key: 'k', windowMs: 1000 } }), ctx.newJob(queue)];
      const [keyed, plain] = await ctx.enqueue(backend, jobs);
      assert.ok(keyed?.status === 'rejected' && plain?.status === 'accepted');
      assert.equal(keyed.error.code, 'CAPABILITY_MISSING');
    },
  }),
  define({
    id: 'G3.4/free-after-window',
    title: 'after its window a key is free, whether its job waits, runs, died or is done; not before',
    covers: ['B129'],
    needs: dedupes,
    async run(ctx) {
      const backend = await ctx.openBackend();
      const ends: readonly ((queue: string) => Promise<unknown>)[] = [
        async () => {},
        (queue) => ctx.claimOne(backend, queue),
        async (queue) => ctx.complete(backend, await ctx.claimOne(backend, queue)),
        async (queue) => ctx.bury(backend, await ctx.claimOne(backend, queue)),
      ];
      const dedupe = { key: 'k', windowMs: WINDOW_MS };
      const queues = ends.map(() => ctx.freshQueue());
      const from = ctx.now();
      for (const [index, queue] of queues.entries()) {
        await ctx.put(backend, queue, 1, { dedupe });
        await ends[index]?.(queue);
        // A duplicate does not prolong the window.
        const [outcome] = await ctx.enqueue(backend, [ctx.newJob(queue, { dedupe })]);
        if (ctx.now() - from < WINDOW_MS) assert.equal(outcome?.status, 'duplicate', `end ${index}`);
      }
      await ctx.passTime(WINDOW_MS + 50);
      for (const queue of queues) await ctx.put(backend, queue, 1, { dedupe });
    },
  }),
];

function longWindow(ctx: Context): number {
  return ctx.capabilities.dedupe === 'none'
    ? 0
    : Math.min(LONG_WINDOW_MS, ctx.capabilities.dedupe.maxWindowMs);
}

async function again(ctx: Context, backend: Backend, job: NewJob): Promise<void> {
  assert.deepEqual(await ctx.enqueue(backend, [job]), [{ status: 'duplicate', id: job.id, of: job.id }]);
}

async function refusedFor(ctx: Context, backend: Backend, job: NewJob, owner: string): Promise<void> {
  assert.deepEqual(await ctx.enqueue(backend, [job]), [{ status: 'duplicate', id: job.id, of: owner }]);
}
