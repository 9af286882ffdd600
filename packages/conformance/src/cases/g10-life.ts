import assert from 'node:assert/strict';
import { isSuretyError } from '@surety/core/errors';
import { type Case, define, unless } from '../case.ts';
import { codeOf, everyOnce, idsOf } from './expectations.ts';

/** G10.1, G10.2, G10.4, G10.6: opening, closing and health. */
export const lifeCases: readonly Case[] = [
  define({
    id: 'G10.1/open-together',
    title: 'sixteen backends that open at once all work',
    covers: ['B120'],
    async run(ctx) {
      const rivals = await ctx.rivals(16);
      const queue = ctx.freshQueue();
      const jobs = (await Promise.all(rivals.map((rival) => ctx.put(rival, queue)))).flat();
      const [first] = rivals;
      assert.ok(first);
      everyOnce(idsOf(jobs), idsOf(await ctx.claimAll(first, queue, 16)), ctx.capabilities);
    },
  }),
  define({
    id: 'G10.1/processes-open-together',
    title: 'processes that open the store at once do no harm',
    covers: ['B120'],
    hooks: ['child'],
    async run(ctx) {
      const queue = ctx.freshQueue();
      const children = await Promise.all(Array.from({ length: 4 }, () => ctx.child()));
      const jobs = children.map(() => ctx.newJob(queue));
      await Promise.all(children.map((child, n) => child.call('enqueue', { jobs: jobs.slice(n, n + 1) })));
      const backend = await ctx.openBackend();
      everyOnce(idsOf(jobs), idsOf(await ctx.claimAll(backend, queue, 4)), ctx.capabilities);
    },
  }),
  define({
    id: 'G10.1/unreachable-is-said',
    title: 'open of an address where nothing is says so, and can be tried again',
    covers: ['B037'],
    needs: (c) => unless(c.durability !== 'memory', 'the store lives in the process: it has no address'),
    async run(ctx) {
      const backend = ctx.makeBackend({ unreachable: true });
      for (let n = 0; n < 2; n++) {
        const opening = backend.open({ timeoutMs: 1500, notify: () => {} });
        const { value: error } = await ctx.within(
          'open',
          5000,
          opening.then(
            () => null,
            (reason: unknown) => reason,
          ),
        );
        assert.ok(isSuretyError(error), `open answered ${String(error)}`);
        assert.notEqual(error.code, 'INTERNAL');
        assert.equal(backend.health().ok, false);
      }
      await ctx.within('close of what never opened', 5000, backend.close({ graceMs: 1000 }));
    },
  }),
  define({
    id: 'G10.1/readable-before-open',
    title: 'name, version and capabilities can be read before open, and are frozen in meaning',
    async run(ctx) {
      const backend = ctx.makeBackend();
      const before = JSON.stringify(backend.capabilities);
      assert.ok(Number.isInteger(backend.contractVersion));
      await backend.open({ ...ctx.call, notify: () => {} });
      assert.equal(JSON.stringify(backend.capabilities), before, 'capabilities changed by open');
      const { lease, batch, payload, deadLetters } = backend.capabilities;
      assert.ok(
        lease.minMs > 0 && lease.minMs <= 30_000 && lease.maxMs >= 30_000,
        'the default lease of 30 s fits',
      );
      assert.ok(
        batch.maxItems >= 1 && batch.maxBytes >= payload.maxBytes,
        'the largest job fits into a call',
      );
      assert.ok(!deadLetters.cursor || deadLetters.order === 'newest-first');
    },
  }),
  define({
    id: 'G10.2/closed-stays-closed',
    title: 'close twice is once; afterwards every call is refused with a code',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      const lease = await ctx.claimOne(backend, queue);
      await Promise.all([backend.close({ graceMs: 1000 }), backend.close({ graceMs: 1000 })]);
      await backend.close({ graceMs: 0 });
      const calls: readonly (() => Promise<unknown>)[] = [
        () => ctx.claim(backend, queue),
        () => backend.counts(queue, ctx.call),
        () => backend.renew([lease], ctx.leaseMs, ctx.call),
        () => backend.pacing.pause(queue, ctx.call),
      ];
      for (const call of calls) {
        const refused = ctx.within('a call after close', 5000, codeOf(call()));
        assert.equal((await refused).value, 'BACKEND_CLOSED');
      }
      const outcomes = await ctx
        .enqueue(backend, [ctx.newJob(queue)])
        .catch((error: { code?: string }) => error.code);
      const status = typeof outcomes === 'string' ? outcomes : outcomes?.[0]?.status;
      assert.ok(status === 'BACKEND_CLOSED' || status === 'rejected', `enqueue after close: ${status}`);
    },
  }),
  define({
    id: 'G10.2/opened-again',
    title: 'a closed backend may be opened again, and works',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const jobs = await ctx.put(backend, queue, 2);
      for (const _round of [1, 2]) {
        await backend.close({ graceMs: 2000 });
        await backend.open({ timeoutMs: 10_000, notify: () => undefined });
        await ctx.complete(backend, await ctx.claimOne(backend, queue));
      }
      assert.equal(jobs.length, 2);
      await ctx.claimNone(backend, queue, 'both ran');
    },
  }),
  define({
    id: 'G10.2/waiting-claim-aborted',
    title: 'an aborted claim ends within the bound, with what it holds',
    covers: ['B042'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      for (let round = 0; round < 5; round++) {
        const abort = new AbortController();
        const waiting = ctx.claim(backend, queue, { waitMs: 60_000, signal: abort.signal });
        await ctx.passTime(ctx.random.int(0, 60));
        // In some rounds a job comes at the moment of the abort: it is in the answer, or still in the queue.
        const enqueuing = round % 2 === 0 ? null : ctx.put(backend, queue);
        abort.abort();
        const { value: answer } = await ctx.within(
          'an aborted claim',
          ctx.capabilities.stopBoundMs + 2000,
          waiting,
        );
        await enqueuing;
        const leases = [...answer.leases];
        if (enqueuing !== null && leases.length === 0) leases.push(await ctx.claimOne(backend, queue));
        await ctx.complete(backend, ...leases);
      }
      const aborted = AbortSignal.abort();
      const { value: answer } = await ctx.within(
        'a claim aborted before',
        5000,
        ctx.claim(backend, queue, { waitMs: 60_000, signal: aborted }),
      );
      assert.deepEqual(answer.leases, []);
    },
  }),
  define({
    id: 'G10.2/close-with-waiting-claim',
    title: 'close ends a waiting claim and returns within its bound',
    covers: ['B042', 'B038'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const waiting = ctx.claim(backend, queue, { waitMs: 60_000 }).then(
        ({ leases }) => leases.length,
        (error: unknown) => (isSuretyError(error) ? 0 : -1),
      );
      await ctx.passTime(50);
      await ctx.within('close', ctx.capabilities.stopBoundMs + 3000, backend.close({ graceMs: 2000 }));
      const { value: held } = await ctx.within('the waiting claim', 2000, waiting);
      assert.equal(held, 0, 'ended with nothing, or with an error of ours');
    },
  }),
  define({
    id: 'G10.2/process-ends',
    title: 'after close nothing keeps the process alive',
    covers: ['B038'],
    hooks: ['child'],
    async run(ctx) {
      const queue = ctx.freshQueue();
      const child = await ctx.child();
      await child.call('enqueue', { jobs: [ctx.newJob(queue)] });
      await child.call('claim', { queue, max: 1, leaseMs: ctx.leaseMs });
      await child.call('close', { graceMs: 1000 });
      assert.equal(await child.leave(10_000), 0, 'exit code');
    },
  }),
  define({
    id: 'G10.4/since-last-success',
    title: 'health tells the time since the last claim and renewal that went well',
    covers: ['B030'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      const before = backend.health();
      assert.deepEqual([before.ok, before.lastClaimOkAgoMs, before.lastRenewOkAgoMs], [true, null, null]);
      await ctx.put(backend, queue);
      const lease = await ctx.claimOne(backend, queue);
      const claimed = backend.health();
      assert.ok(
        claimed.lastClaimOkAgoMs !== null && claimed.lastClaimOkAgoMs >= 0 && claimed.lastClaimOkAgoMs < 5000,
      );
      assert.equal(claimed.lastRenewOkAgoMs, null);
      await backend.renew([lease], ctx.leaseMs, ctx.call);
      const renewed = backend.health();
      assert.ok(
        renewed.lastRenewOkAgoMs !== null && renewed.lastRenewOkAgoMs >= 0 && renewed.lastRenewOkAgoMs < 5000,
      );
      await ctx.eventually(async () => (backend.health().lastClaimOkAgoMs ?? 0) >= 200, {
        what: 'the time since the last claim grows',
        withinMs: 5000,
      });
      assert.equal(backend.health().reason, null);
    },
  }),
  define({
    id: 'G10.6/idle-sessions-cut',
    title: 'a process that only enqueues, without a listener of its own, outlives the end of its sessions',
    covers: ['B032'],
    hooks: ['child', 'server'],
    async run(ctx) {
      const queue = ctx.freshQueue();
      const child = await ctx.child();
      const backend = await ctx.openBackend();
      await child.call('enqueue', { jobs: [ctx.newJob(queue)] });
      const accepts = async (): Promise<boolean> => {
        const [outcome] = await child.call('enqueue', { jobs: [ctx.newJob(queue)] });
        return outcome?.status === 'accepted';
      };
      for (let round = 0; round < 3; round++) {
        await ctx.harness.server?.cutSessions();
        await ctx.eventually(accepts, { what: 'the next enqueue works', withinMs: 15_000 });
        assert.ok(child.running(), 'the process ended');
      }
      await ctx.claimAll(backend, queue, 4);
    },
  }),
  define({
    id: 'G10.6/in-the-middle-of-work',
    title: 'a worker whose sessions are cut in the middle of its calls stays alive and goes on',
    covers: ['B032', 'B024'],
    hooks: ['child', 'server'],
    async run(ctx) {
      const queue = ctx.freshQueue();
      const producer = await ctx.openBackend();
      const worker = await ctx.child();
      await worker.call('drainLoop', { queue, max: 3, leaseMs: Math.max(3000, ctx.shortLeaseMs) });
      for (let round = 0; round < 3; round++) {
        await ctx.eventually(() => ctx.put(producer, queue, 20), { what: 'enqueue', withinMs: 15_000 });
        await ctx.harness.server?.cutSessions();
      }
      await ctx.eventually(async () => new Set(worker.ids('claimed')).size >= 60, {
        what: 'all is worked off',
        withinMs: 30_000,
      });
      assert.ok(worker.running(), 'the process ended');
    },
  }),
];
