import assert from 'node:assert/strict';
import { type DeadLetter, MAX_HISTORY } from '@surety/core/contract';
import { type Case, define, unless } from '../case.ts';
import { type Context, jobError } from '../context.ts';
import { allDead, deadLetter, everyOnce, expectCounts, expectStatuses, idsOf } from './expectations.ts';

/** G6.1, G6.2, G6.7: what a dead letter keeps, and how they are listed. */
export const deadLetterCases: readonly Case[] = [
  define({
    id: 'G6.1/all-that-is-known',
    title: 'a buried job is a dead letter with payload, error, attempts, history and time',
    covers: ['B067'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const payload = '{"z":1,"a":[1.50,"\\u0000é"]}';
      const [job] = await ctx.put(backend, queue, 1, {
        payload,
        headers: { trace: 't' },
        idempotencyKey: 'k',
      });
      assert.ok(job);
      await ctx.retry(
        backend,
        await ctx.claimOne(backend, queue),
        0,
        jobError('first', { code: 'TIMEOUT', attempt: 1 }),
      );
      const error = jobError('läst ✗', {
        code: 'PERMANENT_FAILURE',
        name: 'DomainError',
        stack: 'at x\nat y',
        attempt: 2,
      });
      await ctx.bury(backend, await ctx.claimOne(backend, queue), error);
      const dead = await deadLetter(ctx, backend, queue, job.id);
      assert.deepEqual(
        {
          id: dead.id,
          queue: dead.queue,
          type: dead.type,
          state: dead.state,
          reason: dead.reason,
          payload: dead.payload,
        },
        { id: job.id, queue, type: job.type, state: 'dead', reason: 'PERMANENT_FAILURE', payload },
      );
      assert.deepEqual([dead.idempotencyKey, { ...dead.headers }, dead.dueInMs], ['k', { trace: 't' }, null]);
      if (ctx.capabilities.attempts === 'exact') assert.equal(dead.attempt, 2);
      assert.deepEqual(dead.lastError, error);
      assert.deepEqual(
        dead.history.map((entry) => entry.error.message),
        ['first', 'läst ✗'],
      );
      for (const at of [dead.deadAt, ...dead.history.map((entry) => entry.at)])
        assert.ok(isIso(at), `not ISO 8601: ${at}`);
      assert.equal((await backend.deadLetters.show(ctx.freshQueue(), job.id, ctx.call)) ?? null, null);
      await ctx.claimNone(backend, queue, 'it is dead');
    },
  }),
  define({
    id: 'G6.1/once',
    title: 'a job dies once: one entry, also when its holder was late',
    covers: ['B067'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      const late = await ctx.claimOne(backend, queue, { leaseMs: ctx.shortLeaseMs });
      await ctx.passLease(ctx.shortLeaseMs);
      const lease = await ctx.claimOne(backend, queue);
      const bury = (held: typeof late): Parameters<Context['settleOnce']>[1] => [
        { kind: 'bury', lease: held, error: jobError() },
      ];
      const outcomes = await Promise.all([
        ctx.settleOnce(backend, bury(late)),
        ctx.settleOnce(backend, bury(lease)),
      ]);
      expectStatuses(ctx, outcomes.flat(), ['lease-lost', 'settled']);
      await deadLetter(ctx, backend, queue, lease.id);
      assert.equal((await allDead(ctx, backend, queue)).length, 1);
      await expectCounts(ctx, backend, queue, { dead: 1, ready: 0, leased: 0 });
    },
  }),
  define({
    id: 'G6.2/pages',
    title: 'a listing in pages shows every entry once, newest first, and moves none',
    needs: (c) => unless(c.deadLetters.cursor, 'dead letters are listed without a cursor'),
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const jobs = await ctx.dead(backend, queue, 11);
      for (let again = 0; again < 2; again++) {
        const entries: DeadLetter[] = [];
        let cursor: string | null = null;
        let pages = 0;
        do {
          const page = await backend.deadLetters.list({ queue, limit: 4, cursor, type: null }, ctx.call);
          assert.ok(page.entries.length <= 4, 'more entries than the limit');
          entries.push(...page.entries);
          cursor = page.cursor;
          // A death while somebody turns the pages neither repeats nor hides an entry.
          if (pages === 0 && again === 1) await ctx.dead(backend, queue);
        } while (cursor !== null && ++pages < 10);
        everyOnce(
          idsOf(jobs),
          idsOf(entries.filter(({ id }) => jobs.some((job) => job.id === id))),
          ctx.capabilities,
        );
        if (ctx.capabilities.deadLetters.order === 'newest-first') {
          const times = entries.map((entry) => Date.parse(entry.deadAt));
          assert.deepEqual(
            times,
            times.toSorted((a, b) => b - a),
            'newest first',
          );
        }
      }
      await expectCounts(ctx, backend, queue, { dead: 12, ready: 0 });
    },
  }),
  define({
    id: 'G6.2/by-type',
    title: 'a listing by type shows that type, and an empty queue nothing',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const mails = await ctx.dead(backend, queue, 3, { type: 'mail.send' });
      await ctx.dead(backend, queue, 2, { type: 'other' });
      const page = await backend.deadLetters.list(
        { queue, limit: 50, cursor: null, type: 'mail.send' },
        ctx.call,
      );
      everyOnce(idsOf(mails), idsOf(page.entries), ctx.capabilities);
      const none = await backend.deadLetters.list(
        { queue: ctx.freshQueue(), limit: 5, cursor: null, type: null },
        ctx.call,
      );
      assert.deepEqual([none.entries, none.cursor], [[], null]);
      assert.equal((await allDead(ctx, backend, queue)).length, 5);
    },
  }),
  define({
    id: 'G6.7/bounded-history',
    title: 'of a long row of errors the first and the last are kept, whole',
    covers: ['B076'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const [job] = await ctx.put(backend, queue);
      assert.ok(job);
      // As large as core lets an error be, with what breaks when it is cut or re-encoded.
      const stack = `${'é'.repeat(3000)}\u0000"\\\n`;
      for (let attempt = 1; attempt <= 12; attempt++) {
        await ctx.retry(
          backend,
          await ctx.claimOne(backend, queue),
          0,
          jobError(`e${attempt}`, { attempt, stack }),
        );
      }
      await ctx.bury(backend, await ctx.claimOne(backend, queue), jobError('e13', { attempt: 13 }));
      const dead = await deadLetter(ctx, backend, queue, job.id);
      assert.deepEqual(
        dead.history.map((entry) => entry.error.message),
        ['e1', 'e10', 'e11', 'e12', 'e13'],
      );
      assert.equal(dead.history.length, MAX_HISTORY);
      assert.equal(dead.history[0]?.error.stack, stack);
      assert.deepEqual(dead.lastError, jobError('e13', { attempt: 13 }));
      const times = dead.history.map((entry) => Date.parse(entry.at));
      assert.deepEqual(
        times,
        times.toSorted((a, b) => a - b),
        'oldest first',
      );
    },
  }),
  define({
    id: 'G6.6/every-code',
    title: 'whatever the reason, a death is one dead letter with that reason',
    covers: ['B067'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const reasons = [
        'HANDLER_FAILED',
        'PERMANENT_FAILURE',
        'TIMEOUT',
        'WORKER_LOST',
        'UNKNOWN_TYPE',
        'EXPIRED',
        'BURIED',
      ];
      await ctx.put(backend, queue, reasons.length);
      const leases = await ctx.claimAll(backend, queue, reasons.length);
      await ctx.settle(
        backend,
        leases.map((lease, index) => ({
          kind: 'bury',
          lease,
          error: jobError('x', { code: reasons[index] ?? '' }),
        })),
      );
      await ctx.eventually(async () => (await allDead(ctx, backend, queue)).length === reasons.length, {
        what: 'all are listed',
        withinMs: 5000,
      });
      assert.deepEqual(
        (await allDead(ctx, backend, queue)).map(({ reason }) => reason).toSorted(),
        reasons.toSorted(),
      );
    },
  }),
  define({
    id: 'G6.6/corrupt-payload',
    title:
      'a stored text that is not JSON is handed out as unreadable, or the store refuses it; no neighbour is harmed',
    covers: ['B067'],
    hooks: ['corruptPayload'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const [bad, ...good] = await ctx.put(backend, queue, 4, { payload: '{"ok":true}' });
      assert.ok(bad);
      const isWritten = (await ctx.harness.corruptPayload?.(queue, bad.id)) === 'written';
      const leases = await ctx.claimAll(backend, queue, 4);
      for (const lease of leases)
        assert.equal('unreadable' in lease.payload, isWritten && lease.id === bad.id);
      const lease = leases.find(({ id }) => id === bad.id);
      assert.ok(lease);
      if (!isWritten) {
        await ctx.complete(backend, ...leases);
        return;
      }
      await ctx.bury(backend, lease, jobError('Not JSON.', { code: 'PAYLOAD_CORRUPT' }));
      await ctx.complete(backend, ...leases.filter(({ id }) => id !== bad.id));
      assert.equal(good.length, 3);
      assert.equal((await deadLetter(ctx, backend, queue, bad.id)).reason, 'PAYLOAD_CORRUPT');
    },
  }),
];

function isIso(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))
  );
}
