import assert from 'node:assert/strict';
import type { Backend } from '@surety/core/contract';
import { type Case, define } from '../case.ts';
import type { Context, Truthy } from '../context.ts';
import { completion } from '../stage/settling.ts';
import { idsOf } from './expectations.ts';

/** A call that met the fault may take its own time limit; the next ones must work by then. */
const RECOVERY_MS = 20_000;
/** The time limit of calls that meet a fault. */
const FAULT_CALL = { timeoutMs: 1500 };

/** G10.2, G10.3, G10.4 under faults: a store or a network that goes away and comes back. */
export const faultCases: readonly Case[] = [
  define({
    id: 'G10.3/sessions-cut',
    title: 'after the server ended all sessions every verb works again',
    covers: ['B024', 'B032'],
    hooks: ['server'],
    async run(ctx) {
      const backend = await ctx.openBackend();
      for (let round = 0; round < 2; round++) {
        await ctx.harness.server?.cutSessions();
        await worksAgain(ctx, backend);
      }
    },
  }),
  define({
    id: 'G10.3/restarts',
    title: 'after a restart, and two in quick succession, an idle claim and every verb work again',
    covers: ['B025'],
    hooks: ['server'],
    cost: 'slow',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const { server } = ctx.harness;
      const queue = ctx.freshQueue();
      for (const drops of [1, 2, 1]) {
        const abort = new AbortController();
        const waiting = ctx.claim(backend, queue, { waitMs: 60_000, signal: abort.signal }).catch(() => null);
        for (let drop = 0; drop < drops; drop++) {
          await server?.stop();
          await server?.start();
        }
        await worksAgain(ctx, backend);
        abort.abort();
        await ctx.within(
          'a claim that waited over a restart',
          ctx.capabilities.stopBoundMs + 20_000,
          waiting,
        );
      }
    },
  }),
  define({
    id: 'G10.3/away-and-back',
    title: 'a store away for seconds: calls fail with codes, health says so, and all works when it is back',
    covers: ['B025', 'B030'],
    hooks: ['server'],
    cost: 'slow',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      await ctx.harness.server?.stop();
      try {
        await ctx.eventually(
          async () => {
            await failsInTime(ctx, ctx.claim(backend, queue, FAULT_CALL));
            return !backend.health().ok && backend.health().reason !== null;
          },
          { what: 'health says that the store is away', withinMs: 15_000 },
        );
        await failsInTime(ctx, backend.counts(queue, FAULT_CALL));
        await failsInTime(ctx, backend.pacing.pause(queue, FAULT_CALL));
        await failsInTime(
          ctx,
          backend.deadLetters.list({ queue, limit: 1, cursor: null, type: null }, FAULT_CALL),
        );
      } finally {
        await ctx.harness.server?.start();
      }
      await worksAgain(ctx, backend);
      await ctx.eventually(async () => backend.health().ok, {
        what: 'health is ok again',
        withinMs: RECOVERY_MS,
      });
    },
  }),
  define({
    id: 'G10.3/frozen-connections',
    title: 'connections that fall silent without an end: calls end in time and work goes on over new ones',
    covers: ['B026'],
    hooks: ['network'],
    async run(ctx) {
      const network = await ctx.openNetwork();
      const { backend } = network;
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue, 3);
      const lease = await ctx.claimOne(backend, queue);
      await network.freeze();
      const calls = [
        ctx.claim(backend, queue, FAULT_CALL),
        backend.renew([lease], ctx.leaseMs, FAULT_CALL),
        backend.counts(queue, FAULT_CALL),
        backend.enqueue([ctx.newJob(queue)], FAULT_CALL),
      ];
      await Promise.all(
        calls.map((call) =>
          ctx.within(
            'a call on a silent connection',
            FAULT_CALL.timeoutMs + 2500,
            call.then(
              () => 0,
              () => 0,
            ),
          ),
        ),
      );
      // The frozen connections stay frozen: only new ones can do this.
      await worksAgain(ctx, backend);
      await network.heal();
    },
  }),
  define({
    id: 'G10.3/cut-at-every-verb',
    title:
      'connections cut under claim, renew and settle: each call ends, nothing is lost, settling again is safe',
    covers: ['B024', 'B026'],
    hooks: ['network'],
    async run(ctx) {
      const network = await ctx.openNetwork();
      const { backend } = network;
      const queue = ctx.freshQueue();
      const jobs = await ctx.put(backend, queue, 12);
      const done = new Set<string>();
      const leaseMs = Math.max(2000, ctx.shortLeaseMs);
      await ctx.eventually(
        async () => {
          const { leases } = await ctx.claim(backend, queue, { max: 2, leaseMs, ...FAULT_CALL });
          if (ctx.random.next() < 0.5) await network.cut();
          await backend.renew(leases, leaseMs, FAULT_CALL).catch(() => []);
          const settling = ctx.settleOnce(backend, leases.map(completion)).catch(() => []);
          if (ctx.random.next() < 0.5) await network.cut();
          const outcomes = await settling;
          const again = leases.filter((_, n) => outcomes[n]?.status !== 'settled');
          for (const { id } of leases.filter((_, n) => outcomes[n]?.status === 'settled')) done.add(id);
          if (again.length > 0) {
            const second = await ctx.settleOnce(backend, again.map(completion));
            // Lost after unknown: the first try may have been done. The queue tells below.
            for (const { id } of again.filter((_, n) => second[n]?.status === 'settled')) done.add(id);
          }
          const counts = await backend.counts(queue, ctx.call);
          return (counts.ready.value ?? 0) + (counts.leased.value ?? 0) + (counts.scheduled.value ?? 0) === 0;
        },
        { what: 'the queue is worked off', withinMs: 45_000 },
      );
      assert.ok(done.size <= jobs.length);
      await ctx.claimNone(backend, queue, 'all were completed');
    },
  }),
  define({
    id: 'G10.3/settle-without-answer',
    title: 'a settlement whose answer is lost is unknown; settling again changes nothing more',
    covers: ['B026'],
    hooks: ['network'],
    async run(ctx) {
      const network = await ctx.openNetwork();
      const { backend } = network;
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue, 2);
      const leases = await ctx.claimAll(backend, queue, 2);
      await network.dropAnswers();
      const settling = backend.settle(leases.map(completion), FAULT_CALL).then(
        (outcomes) => outcomes.map(({ status }) => status),
        () => ['unknown', 'unknown'],
      );
      const { value: statuses } = await ctx.within('settle', FAULT_CALL.timeoutMs + 2500, settling);
      assert.deepEqual(statuses, ['unknown', 'unknown']);
      await network.heal();
      await ctx.eventually(
        async () => {
          const outcomes = await ctx.settleOnce(backend, leases.map(completion));
          return outcomes.every(({ status }) => status === 'lease-lost' || status === 'settled');
        },
        { what: 'settling again is answered', withinMs: RECOVERY_MS },
      );
      await ctx.claimNone(backend, queue, 'both were completed');
    },
  }),
  define({
    id: 'G10.2/close-while-away',
    title: 'with the network gone, close ends within its grace, a waiting claim included',
    covers: ['B038'],
    hooks: ['network'],
    async run(ctx) {
      const network = await ctx.openNetwork();
      const { backend } = network;
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      await ctx.claimOne(backend, queue);
      const waiting = ctx.claim(backend, queue, { waitMs: 60_000 }).then(
        ({ leases }) => idsOf(leases),
        () => [],
      );
      await network.isolate();
      await ctx.within('close', 3000, backend.close({ graceMs: 2000 }));
      const { value: held } = await ctx.within('the waiting claim', 2000, waiting);
      assert.deepEqual(held, []);
    },
  }),
  define({
    id: 'G10.2/close-while-frozen',
    title: 'with the server frozen, close ends within its grace',
    covers: ['B038'],
    hooks: ['server'],
    cost: 'slow',
    async run(ctx) {
      const backend = await ctx.openBackend();
      const queue = ctx.freshQueue();
      await ctx.put(backend, queue);
      await ctx.harness.server?.pause();
      try {
        const enqueuing = backend.enqueue([ctx.newJob(queue)], { timeoutMs: 30_000 }).catch(() => []);
        await ctx.within('close', 3000, backend.close({ graceMs: 2000 }));
        await ctx.within('the enqueue under way', 3000, enqueuing);
      } finally {
        await ctx.harness.server?.resume();
      }
    },
  }),
];

/** One turn of every verb, each tried until it works. */
async function worksAgain(ctx: Context, backend: Backend): Promise<void> {
  const queue = ctx.freshQueue();
  const until = <T>(what: string, step: () => Promise<T>): Promise<Truthy<T>> =>
    ctx.eventually(step, { what: `${what} after the fault`, withinMs: RECOVERY_MS, everyMs: 100 });
  const job = ctx.newJob(queue);
  await until('enqueue', async () => {
    const [outcome] = await backend.enqueue([job], { timeoutMs: 5000 });
    return outcome?.status === 'accepted' || outcome?.status === 'duplicate';
  });
  const lease = await until(
    'claim',
    async () => (await ctx.claim(backend, queue, { timeoutMs: 5000 })).leases[0],
  );
  await until(
    'renew',
    async () => (await backend.renew([lease], ctx.leaseMs, { timeoutMs: 5000 }))[0]?.status === 'renewed',
  );
  await until('counts', () => backend.counts(queue, { timeoutMs: 5000 }));
  await until(
    'settle',
    async () => (await ctx.settleOnce(backend, [completion(lease)]))[0]?.status !== 'unknown',
  );
}

async function failsInTime(ctx: Context, call: Promise<unknown>): Promise<void> {
  const answer = call.then(
    () => 'success',
    (error: { readonly code?: unknown }) =>
      typeof error.code === 'string' ? 'failed' : 'an error without a code',
  );
  const { value } = await ctx.within('a call while the store is away', FAULT_CALL.timeoutMs + 1500, answer);
  assert.equal(value, 'failed');
}
