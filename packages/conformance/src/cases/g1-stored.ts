import assert from 'node:assert/strict';
import { ENVELOPE_BYTES } from '@surety/core/contract';
import { type Case, define, unless } from '../case.ts';
import { everyOnce, idsOf } from './expectations.ts';

/** G1.1, G1.3, G1.6: what accepted means, and what a batch is. */
export const storedCases: readonly Case[] = [
  define({
    id: 'G1.1/seen-by-others',
    title: 'an accepted job is handed out by another connection',
    async run(ctx) {
      const [producer, consumer] = [await ctx.openBackend(), await ctx.openBackend()];
      const queue = ctx.freshQueue();
      const [job] = await ctx.put(producer, queue);
      const lease = await ctx.claimOne(consumer, queue);
      assert.equal(lease.id, job?.id);
      await ctx.complete(consumer, lease);
      await ctx.claimNone(producer, queue, 'its only job was completed');
    },
  }),
  define({
    id: 'G1.1/facts-intact',
    title: 'a lease tells every fact of the job as it was enqueued',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const headers = { traceparent: '00-4bf9-01', 'x-Ünï': 'größe ✓ "quoted"\n', empty: '' };
      const job = ctx.newJob(queue, {
        type: 'A.z_0:9-x',
        headers,
        idempotencyKey: 'order 17/ä',
        maxAttempts: 7,
      });
      await ctx.accept(backend, [job]);
      const lease = await ctx.claimOne(backend, queue);
      const { id, type, idempotencyKey, maxAttempts } = lease;
      assert.deepEqual(
        { id, queue: lease.queue, type, idempotencyKey, maxAttempts, headers: { ...lease.headers } },
        { id: job.id, queue, type: job.type, idempotencyKey: 'order 17/ä', maxAttempts: 7, headers },
      );
      const { attempt, lostClaims, interruptions, redrives, lossBackedOff, unknownTypeForMs, expiresInMs } =
        lease;
      assert.deepEqual(
        { attempt, lostClaims, interruptions, redrives, lossBackedOff, unknownTypeForMs, expiresInMs },
        {
          attempt: 1,
          lostClaims: 0,
          interruptions: 0,
          redrives: 0,
          lossBackedOff: false,
          unknownTypeForMs: null,
          expiresInMs: null,
        },
      );
      assert.ok(lease.deliveries >= 1 && lease.waitedMs >= 0);
      await ctx.complete(backend, lease);
    },
  }),
  define({
    id: 'G1.1/many-producers',
    title: 'eight producers at once: every accepted job is there, none twice',
    async run(ctx) {
      const queue = ctx.freshQueue();
      const producers = await ctx.rivals(8);
      const sent = await Promise.all(
        producers.map(async (producer) => {
          const ids: string[] = [];
          for (let round = 0; round < 5; round++) {
            ids.push(...idsOf(await ctx.put(producer, queue, ctx.random.int(1, 6))));
          }
          return ids;
        }),
      );
      const [first] = producers;
      assert.ok(first);
      const leases = await ctx.claimAll(first, queue, sent.flat().length);
      everyOnce(sent.flat(), idsOf(leases), ctx.capabilities);
      await ctx.complete(first, ...leases);
    },
  }),
  define({
    id: 'G1.1/outlives-producer',
    title: 'what a producer was told is accepted outlives its kill -9',
    covers: ['B002'],
    hooks: ['child'],
    async run(ctx) {
      const queue = ctx.freshQueue();
      const producer = await ctx.child();
      const jobs = Array.from({ length: 10 }, () => ctx.newJob(queue));
      const outcomes = await producer.call('enqueue', { jobs });
      await producer.kill();
      assert.ok(outcomes.every(({ status }) => status === 'accepted'));
      const consumer = await ctx.openBackend();
      everyOnce(idsOf(jobs), idsOf(await ctx.claimAll(consumer, queue, 10)), ctx.capabilities);
    },
  }),
  define({
    id: 'G1.1/killed-while-enqueueing',
    title: 'a producer killed in the middle of its loop: every id it was told is there',
    covers: ['B002'],
    hooks: ['child'],
    async run(ctx) {
      const consumer = await ctx.openBackend();
      for (let round = 0; round < 2; round++) {
        const queue = ctx.freshQueue();
        const producer = await ctx.child();
        await producer.call('enqueueLoop', { template: ctx.newJob(queue), batch: ctx.random.int(1, 5) });
        await ctx.eventually(async () => producer.ids('accepted').length > 30, {
          what: 'the child enqueues',
          withinMs: 30_000,
          everyMs: ctx.random.int(1, 20),
        });
        await producer.kill();
        const accepted = producer.ids('accepted');
        const found = new Set<string>();
        await ctx.eventually(
          async () => {
            const { leases } = await ctx.claim(consumer, queue, {
              max: Math.min(50, ctx.capabilities.batch.maxItems),
            });
            for (const lease of leases) found.add(lease.id);
            return accepted.every((id) => found.has(id));
          },
          { what: `all of ${accepted.length} accepted jobs are claimed`, withinMs: 20_000, everyMs: 1 },
        );
      }
    },
  }),
  define({
    id: 'G1.3/oversized-item',
    title: 'one item above the payload limit is rejected alone',
    covers: ['B072', 'B005'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const jobs = Array.from({ length: 6 }, () => ctx.newJob(queue));
      const big = {
        ...jobs[3],
        payload: JSON.stringify('x'.repeat(ctx.capabilities.payload.maxBytes)),
      } as (typeof jobs)[0];
      const outcomes = await ctx.enqueue(backend, jobs.with(3, big));
      assert.deepEqual(
        outcomes.map(({ id, status }) => [id, status]),
        jobs.map(({ id }, index) => [id, index === 3 ? 'rejected' : 'accepted']),
      );
      const refused = outcomes[3];
      assert.ok(refused?.status === 'rejected');
      assert.equal(refused.error.code, 'PAYLOAD_TOO_LARGE');
      const leases = await ctx.claimAll(backend, queue, 5);
      everyOnce(idsOf(jobs.toSpliced(3, 1)), idsOf(leases), ctx.capabilities);
      await ctx.claimNone(backend, queue, 'the sixth was rejected');
    },
  }),
  define({
    id: 'G1.3/mixed-queues',
    title: 'one batch for several queues puts each job where it belongs',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queues = [ctx.freshQueue(), ctx.freshQueue(), ctx.freshQueue()];
      const jobs = queues
        .flatMap((queue) => [ctx.newJob(queue), ctx.newJob(queue)])
        .toSorted((a, b) => (a.id < b.id ? -1 : 1));
      await ctx.accept(backend, jobs);
      for (const queue of queues) {
        const leases = await ctx.claimAll(backend, queue, 2);
        everyOnce(idsOf(jobs.filter((job) => job.queue === queue)), idsOf(leases), ctx.capabilities);
      }
    },
  }),
  define({
    id: 'G1.3/duplicates-in-batch',
    title: 'an id twice in one batch: the first is accepted, the later is a duplicate of it',
    covers: ['B005'],
    needs: (c) => unless(c.idempotentEnqueue !== 'none', 'enqueue does not know an id again'),
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const [a, b, c] = [ctx.newJob(queue), ctx.newJob(queue), ctx.newJob(queue)];
      const outcomes = await ctx.enqueue(backend, [a, b, a, c, b]);
      assert.deepEqual(
        outcomes.map((outcome) => [
          outcome.id,
          outcome.status,
          outcome.status === 'duplicate' ? outcome.of : null,
        ]),
        [
          [a.id, 'accepted', null],
          [b.id, 'accepted', null],
          [a.id, 'duplicate', a.id],
          [c.id, 'accepted', null],
          [b.id, 'duplicate', b.id],
        ],
      );
      everyOnce(idsOf([a, b, c]), idsOf(await ctx.claimAll(backend, queue, 3)), ctx.capabilities);
      await ctx.claimNone(backend, queue, 'three jobs were stored');
    },
  }),
  define({
    id: 'G1.3/empty-batch',
    title: 'an empty batch is answered with nothing',
    async run(ctx) {
      const backend = await ctx.openBackend();
      assert.deepEqual(await ctx.enqueue(backend, []), []);
      assert.deepEqual(await backend.settle([], ctx.call), []);
      assert.deepEqual(await backend.renew([], ctx.leaseMs, ctx.call), []);
    },
  }),
  define({
    id: 'G1.6/most-items',
    title: 'a batch of the most items is stored whole, and claimed whole',
    covers: ['B072'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const most = ctx.capabilities.batch.maxItems;
      const jobs = Array.from({ length: most }, () => ctx.newJob(queue));
      await ctx.accept(backend, jobs);
      const leases = await ctx.claimAll(backend, queue, most, { withinMs: 30_000 });
      everyOnce(idsOf(jobs), idsOf(leases), ctx.capabilities);
      await ctx.complete(backend, ...leases);
      await ctx.claimNone(backend, queue, 'all were completed');
    },
  }),
  define({
    id: 'G1.6/most-bytes',
    title: 'a batch of the most bytes is stored whole',
    covers: ['B072'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const { batch, payload } = ctx.capabilities;
      // Sixteen equal items, or as many more as the limit of one asks for.
      const count = Math.min(batch.maxItems, Math.max(2, Math.ceil(batch.maxBytes / payload.maxBytes)));
      const each = Math.min(payload.maxBytes, Math.floor(batch.maxBytes / count)) - ENVELOPE_BYTES - 2;
      const jobs = Array.from({ length: count }, () =>
        ctx.newJob(queue, { payload: JSON.stringify('y'.repeat(each)) }),
      );
      await ctx.accept(backend, jobs);
      const leases = await ctx.claimAll(backend, queue, count, { withinMs: 30_000 });
      everyOnce(idsOf(jobs), idsOf(leases), ctx.capabilities);
      await ctx.complete(backend, ...leases);
    },
  }),
  define({
    id: 'G1.6/one-item-more',
    title: 'one item more than a call may carry is refused whole, or stored whole',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const jobs = Array.from({ length: ctx.capabilities.batch.maxItems + 1 }, () => ctx.newJob(queue));
      const outcomes = await ctx.enqueue(backend, jobs).catch((error: { code?: string }) => {
        assert.equal(error.code, 'LIMIT_EXCEEDED');
        return null;
      });
      if (outcomes === null) return ctx.claimNone(backend, queue, 'the batch was refused');
      assert.deepEqual(idsOf(outcomes), idsOf(jobs));
      const stored = outcomes.filter(({ status }) => status === 'accepted');
      everyOnce(idsOf(stored), idsOf(await ctx.claimAll(backend, queue, stored.length)), ctx.capabilities);
    },
  }),
];
