import assert from 'node:assert/strict';
import { DEFAULT_MAX_PAYLOAD_BYTES, ENVELOPE_BYTES } from '@surety/core/contract';
import { type Case, define, unless } from '../case.ts';
import { deadLetter, idsOf } from './expectations.ts';

/** Texts that a store, a driver or a parser could change on the way. */
const TEXTS: readonly string[] = [
  'null',
  'true',
  '0',
  '-0',
  '""',
  '[]',
  '{}',
  '"plain"',
  '{"b":1,"a":2,"10":3,"2":4}',
  '{"same":1,"spaces":  [ 1 , 2 ]  }',
  '{"n":12345678901234567890,"f":1.0,"e":1e2,"tiny":1E-7,"precise":0.1000000000000000055}',
  '"\\u0000 \\u0007 \\uffff \\u2028 \\u2029 \\ud83d\\ude00"',
  '{"\\u0000key":["x\\u0000y"]}',
  '"é ñ 漢字 😀 \u2028 \uffff ﷽ e\u0301"',
  '"<tag attr=\'1\'>&amp;&#0;</tag>"',
  '"%s $1 ? :name {0} ${x} `; drop table job; --"',
  '"back\\\\slash \\" quote \\/ solidus \\n\\r\\t\\b\\f"',
  '{"__proto__":{"polluted":true},"constructor":1}',
  `${'['.repeat(200)}${']'.repeat(200)}`,
];

/** G7.2, G7.3: what fits and what does not. */
export const boundsCases: readonly Case[] = [
  define({
    id: 'G7.2/verbatim',
    title: 'payload texts come back to the byte, and parsed as JSON.parse would',
    covers: ['B071', 'B074'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const texts = new Map(TEXTS.map((payload) => [ctx.newJob(queue).id, payload]));
      for (const [id, payload] of texts)
        await ctx.accept(backend, [ctx.newJob(queue, { id, idempotencyKey: id, payload })]);
      for (const lease of await ctx.claimAll(backend, queue, texts.size)) {
        const text = texts.get(lease.id) ?? '';
        assert.deepEqual(lease.payload, { value: JSON.parse(text) as unknown });
        // Kept over a failure too, and shown as it was written.
        await ctx.bury(backend, lease);
        assert.equal((await deadLetter(ctx, backend, queue, lease.id)).payload, text);
        await backend.deadLetters.redrive(queue, { ids: [lease.id] }, ctx.call);
      }
      for (const lease of await ctx.claimAll(backend, queue, texts.size)) {
        assert.deepEqual(lease.payload, { value: JSON.parse(texts.get(lease.id) ?? '') as unknown });
      }
    },
  }),
  define({
    id: 'G7.2/odd-neighbours',
    title: 'odd characters in one item of a batch change nothing for its neighbours',
    covers: ['B074', 'B071'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const jobs = TEXTS.slice(0, 10).map((payload, n) =>
        ctx.newJob(queue, { payload, headers: { odd: n === 4 ? 'bell \u0007 nul \u0000 ffff \uffff' : '' } }),
      );
      await ctx.accept(backend, jobs);
      const leases = await ctx.claimAll(backend, queue, jobs.length);
      for (const job of jobs) {
        const lease = leases.find(({ id }) => id === job.id);
        assert.deepEqual(lease?.payload, { value: JSON.parse(job.payload) as unknown });
        assert.deepEqual({ ...lease?.headers }, job.headers);
      }
    },
  }),
  define({
    id: 'G7.2/at-the-limit',
    title: 'a job of the largest size passes, one byte more is refused by size',
    covers: ['B072'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const { maxBytes } = ctx.capabilities.payload;
      assert.ok(maxBytes >= DEFAULT_MAX_PAYLOAD_BYTES, 'every backend takes 200 KiB');
      // Two bytes a character: a limit that counts characters would be off by half.
      const largest = sized(maxBytes - ENVELOPE_BYTES);
      const job = ctx.newJob(queue, { payload: largest });
      await ctx.accept(backend, [job]);
      const lease = await ctx.claimOne(backend, queue);
      assert.equal(
        'value' in lease.payload && JSON.stringify(lease.payload.value) === largest,
        true,
        'the payload changed',
      );
      await ctx.complete(backend, lease);
      const [outcome] = await ctx.enqueue(backend, [ctx.newJob(queue, { payload: sized(maxBytes + 1) })]);
      assert.ok(outcome?.status === 'rejected', `a job above the limit was ${outcome?.status}`);
      assert.equal(outcome.error.code, 'PAYLOAD_TOO_LARGE');
      await ctx.claimNone(backend, queue, 'it was refused');
    },
  }),
  define({
    id: 'G7.2/default-limit',
    title: 'jobs of 200 KiB pass on every backend, several at once',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const jobs = await ctx.put(backend, queue, 3, {
        payload: sized(DEFAULT_MAX_PAYLOAD_BYTES - ENVELOPE_BYTES),
      });
      const leases = await ctx.claimAll(backend, queue, 3);
      assert.deepEqual(idsOf(leases).toSorted(), idsOf(jobs).toSorted());
      await ctx.complete(backend, ...leases);
    },
  }),
  define({
    id: 'G7.3/exact-depth',
    title:
      'at its maximum depth a queue refuses to enqueue, item by item, and takes again when there is room',
    needs: (c) => unless(c.maxDepth === 'exact', 'no exact depth'),
    async run(ctx) {
      const backend = await ctx.openBackend();
      const [queue, other] = [ctx.freshQueue(), ctx.freshQueue()];
      const limited = (overrides = {}): ReturnType<typeof ctx.newJob> =>
        ctx.newJob(queue, { maxDepth: 4, ...overrides });
      await ctx.accept(backend, [
        limited(),
        limited({ delayMs: Math.min(60_000, ctx.capabilities.delay.maxMs) }),
        limited(),
      ]);
      const batch = [limited(), limited(), ctx.newJob(other), limited(), ctx.newJob(queue)];
      const outcomes = await ctx.enqueue(backend, batch);
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['accepted', 'rejected', 'accepted', 'rejected', 'accepted'],
      );
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') assert.equal(outcome.error.code, 'QUEUE_FULL');
      // Leased jobs do not count: five are stored, two are held, three are left.
      const [lease] = await ctx.claimAll(backend, queue, 2);
      await ctx.accept(backend, [limited()]);
      assert.equal((await ctx.enqueue(backend, [limited()]))[0]?.status, 'rejected');
      assert.ok(lease);
    },
  }),
  define({
    id: 'G7.3/refuses-nothing-else',
    title: 'a full queue takes retries, releases, deaths and redrives',
    needs: (c) => unless(c.maxDepth !== 'none', 'no maximum depth'),
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue, 3, { maxDepth: 3 });
      const [a, b, c] = await ctx.claimAll(backend, queue, 3);
      assert.ok(a && b && c);
      await ctx.put(backend, queue, 3, { maxDepth: 3 });
      await ctx.retry(backend, a);
      await ctx.release(backend, b);
      await ctx.bury(backend, c);
      await deadLetter(ctx, backend, queue, c.id);
      const outcomes = await backend.deadLetters.redrive(queue, { ids: [c.id] }, ctx.call);
      assert.equal(outcomes[0]?.status, 'redriven');
      await ctx.claimAll(backend, queue, 6);
    },
  }),
  define({
    id: 'G7.3/approximate-depth',
    title: 'far past its maximum depth a queue refuses to enqueue',
    needs: (c) => unless(c.maxDepth === 'approximate', 'the depth is exact, or there is none'),
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.eventually(
        async () => {
          const [outcome] = await ctx.enqueue(backend, [ctx.newJob(queue, { maxDepth: 2 })]);
          return outcome?.status === 'rejected' && outcome.error.code === 'QUEUE_FULL';
        },
        { what: 'a full queue refuses', withinMs: 20_000 },
      );
    },
  }),
  define({
    id: 'G7.3/refused-where-not-claimed',
    title: 'a maximum depth is refused, not ignored, where the capability is missing',
    needs: (c) => unless(c.maxDepth === 'none', 'a maximum depth is offered'),
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const [limited, plain] = await ctx.enqueue(backend, [
        ctx.newJob(queue, { maxDepth: 5 }),
        ctx.newJob(queue),
      ]);
      assert.ok(limited?.status === 'rejected' && plain?.status === 'accepted');
      assert.equal(limited.error.code, 'CAPABILITY_MISSING');
    },
  }),
  define({
    id: 'G7.3/rivals',
    title: 'eight producers at once do not overfill a queue whose depth is exact',
    needs: (c) => unless(c.maxDepth === 'exact', 'no exact depth'),
    async run(ctx) {
      const rivals = await ctx.rivals(8);
      const queue = ctx.freshQueue();
      const answers = await Promise.all(
        rivals.map((rival) =>
          ctx.enqueue(
            rival,
            Array.from({ length: 3 }, () => ctx.newJob(queue, { maxDepth: 10 })),
          ),
        ),
      );
      assert.equal(
        answers.flat().filter(({ status }) => status === 'accepted').length,
        10,
        'jobs in a queue of depth 10',
      );
    },
  }),
];

/** A JSON text of so many bytes in UTF-8, of characters of two bytes. */
function sized(bytes: number): string {
  const body = 'é'.repeat(Math.floor((bytes - 2) / 2));
  return `"${body}${bytes % 2 === 0 ? '' : 'x'}"`;
}
