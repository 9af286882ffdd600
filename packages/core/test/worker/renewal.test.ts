import { type AbortReason, createClient, defineJob, handle } from '@surety/core';
import type { Backend, Notice } from '@surety/core/contract';
import { createMemoryStore, memory } from '@surety/memory';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lease, scriptedBackend } from '../support/scripted-backend.ts';
import { deferred, pass, stopNow, stopTime, type Trial, trial } from '../support/worker-trial.ts';

const job = defineJob('test.job');
let running: Trial | null = null;

beforeEach(stopTime);
afterEach(async () => {
  if (running !== null) await stopNow(running.worker, { drain: 0, grace: 0 });
  running = null;
  vi.useRealTimers();
});

test('B012: a handler of five leases runs once, renewed at a third, beside a second worker', async () => {
  const store = memory();
  const renewals: number[] = [];
  const backend = {
    ...store,
    renew: (...args: Parameters<typeof store.renew>) => {
      renewals.push(performance.now());
      return store.renew(...args);
    },
  };
  let starts = 0;
  const handlers = [
    handle(job, async (_input, { attempt }) => {
      starts += attempt;
      await new Promise((resolve) => setTimeout(resolve, 5000));
    }),
  ];
  running = trial({ backend, lease: 1000, handlers });
  const rival = trial({ backend, lease: 1000, handlers });
  const client = createClient({ backend });
  await running.worker.start();
  await rival.worker.start();
  const startedAt = performance.now();
  await client.enqueue(job, {});
  await pass(6000);
  const outcomes = [...running.of('attempt'), ...rival.of('attempt')].map(({ outcome }) => outcome);
  expect(starts).toBe(1);
  expect(outcomes).toEqual(['completed']);
  expect(renewals.length).toBeGreaterThanOrEqual(10);
  const gaps = renewals.map((at, index) => at - (renewals[index - 1] ?? startedAt));
  for (const gap of gaps) {
    expect(gap).toBeGreaterThanOrEqual(300);
    expect(gap).toBeLessThanOrEqual(500);
  }
  await client.close();
  await stopNow(rival.worker);
});

test('B030: renewals that fail for longer than a lease: handlers told, nothing claimed, health says why, recovers', async () => {
  const backend = scriptedBackend();
  let away = true;
  backend.script.renew = (_held, plain) => (away ? Promise.reject(new Error('no heartbeat')) : plain());
  const kinds: string[] = [];
  running = trial({
    backend,
    lease: 3000,
    concurrency: 2,
    handlers: [
      handle(
        job,
        (_input, { signal }) =>
          new Promise<void>((resolve) => {
            signal.addEventListener('abort', () => {
              kinds.push((signal.reason as AbortReason).kind);
              resolve();
            });
          }),
      ),
    ],
  });
  backend.give(lease());
  await running.worker.start();
  await pass(2000);
  expect(running.worker.health()).toMatchObject({ ok: false, reason: expect.stringContaining('renew') });
  await pass(3000);
  expect(kinds).toEqual(['lease-lost']);
  expect(backend.settled).toEqual([]);
  expect(running.worker.health().reason).toContain('nothing is claimed until a renewal succeeds');
  const claims = backend.claims.length;
  backend.give(lease());
  await pass(60_000);
  expect(backend.claims).toHaveLength(claims);
  expect(backend.waiting).toBe(0);
  expect(backend.left).toBe(1);
  expect(running.of('degraded')).toHaveLength(1);
  const probes = backend.renewals.length;
  expect(probes).toBeLessThan(40);
  away = false;
  await pass(7000);
  expect(running.worker.health()).toMatchObject({ ok: true, reason: null });
  expect(running.of('recovered')).toHaveLength(1);
  expect(running.of('started')).toHaveLength(2);
});

test('B030: a probe that throws at once ends nothing', async () => {
  const backend = scriptedBackend();
  let away = true;
  backend.script.renew = (_held, plain) => {
    if (away) throw Object.create(null);
    return plain();
  };
  running = trial({ backend, lease: 1000, grace: 0, handlers: [handle(job, () => undefined)] });
  backend.script.settle = () => Promise.reject(new Error('away'));
  backend.give(lease());
  await running.worker.start();
  await pass(10_000);
  away = false;
  delete backend.script.settle;
  backend.give(lease());
  await pass(10_000);
  expect(backend.left).toBe(0);
  expect(running.worker.health().ok).toBe(true);
});

test('a renewal that failed is forgotten once its job is settled and nothing is held', async () => {
  const backend = scriptedBackend();
  const end = deferred();
  backend.script.renew = () => Promise.reject(new Error('no'));
  running = trial({ backend, handlers: [handle(job, () => end.promise)] });
  backend.give(lease());
  await running.worker.start();
  await pass(11_000);
  expect(running.worker.health()).toMatchObject({ ok: false, lastRenewOkAgoMs: null });
  end.resolve();
  await pass(500);
  expect(backend.settled).toMatchObject([{ kind: 'complete' }]);
  expect(running.worker.health()).toMatchObject({ ok: true, lastRenewOkAgoMs: null });
  expect(running.of('recovered')).toEqual([{ reason: 'renew' }]);
});

test('a lease that ends while its job is held is not started', async () => {
  const backend = scriptedBackend();
  const first = deferred();
  backend.script.claim = async ({ signal }) => {
    if (backend.claims.length > 1) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    // The answer came so late that the lease is nearly over.
    return backend.claims.length > 1
      ? { leases: [], paused: false, leasedAt: performance.now() }
      : { leases: [lease()], paused: false, leasedAt: performance.now() - 5000 };
  };
  running = trial({ backend, lease: 3000, handlers: [handle(job, () => first.promise)] });
  await running.worker.start();
  await pass(1000);
  expect(running.of('started')).toEqual([]);
  expect(running.of('lease-lost')).toHaveLength(1);
  expect(backend.settled).toEqual([]);
});

test('B097: steps of the wall clock change nothing: no expiry, renewals at their interval, timeouts as set', async () => {
  const backend = scriptedBackend();
  const timed = defineJob('test.timed', { timeout: '20s', retry: { base: '1s' } });
  running = trial({
    backend,
    lease: 3000,
    grace: 0,
    handlers: [handle(timed, () => new Promise(() => undefined))],
  });
  backend.give(lease({ type: 'test.timed' }));
  await running.worker.start();
  for (const step of [-3_600_000, 86_400_000, -86_400_000]) {
    vi.setSystemTime(Date.now() + step);
    await pass(5000);
  }
  expect(running.of('lease-lost')).toEqual([]);
  expect(running.of('attempt')).toEqual([]);
  expect(backend.renewals.length).toBeGreaterThanOrEqual(13);
  expect(backend.renewals.length).toBeLessThanOrEqual(16);
  await pass(5200);
  expect(running.of('attempt')).toMatchObject([{ outcome: 'retried', code: 'TIMEOUT' }]);
  const [timeout] = running.of('attempt');
  expect(timeout?.durationMs).toBeGreaterThanOrEqual(20_000);
  expect(timeout?.durationMs).toBeLessThanOrEqual(20_200);
});

test('a lease that ended with its connection is heard of at once, not at the renewal in turn', async () => {
  const store = createMemoryStore();
  const backend = memory({
    store,
    profile: 'weak',
    faults: { duplicate: 0, emptyClaim: 0, unknownSettle: 0 },
  });
  const aborted: { readonly kind: string; readonly afterMs: number }[] = [];
  let cutAt = 0;
  let starts = 0;
  running = trial({
    backend,
    lease: 60_000,
    handlers: [
      handle(job, async (_input, { signal }) => {
        starts += 1;
        if (starts > 1) return;
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => {
            aborted.push({
              kind: (signal.reason as AbortReason).kind,
              afterMs: performance.now() - cutAt,
            });
            resolve();
          });
        });
      }),
    ],
  });
  const client = createClient({ backend });
  await running.worker.start();
  await client.enqueue(job, {});
  await pass(1000);
  expect(starts).toBe(1);
  cutAt = performance.now();
  store.faults.cutConnection(backend);
  // A third of the lease is 20 s.
  await pass(3000);
  expect(aborted).toMatchObject([{ kind: 'lease-lost' }]);
  expect(aborted[0]?.afterMs).toBeLessThan(1000);
  expect(starts).toBe(2);
  await client.close();
});

test('where leases end by time alone, a lost connection is no reason to renew', async () => {
  const backend = scriptedBackend();
  let notify: (notice: Notice) => void = () => undefined;
  const told: Backend = {
    ...backend,
    open: (options) => {
      ({ notify } = options);
      return backend.open(options);
    },
  };
  running = trial({
    backend: told,
    lease: 60_000,
    handlers: [handle(job, () => new Promise<void>(() => undefined))],
  });
  await running.worker.start();
  backend.give(lease({ type: 'test.job' }));
  await pass(1000);
  expect(running.worker.health().running).toBe(1);
  notify({ kind: 'degraded', reason: 'a connection was lost', error: null });
  await pass(1000);
  expect(backend.renewals).toEqual([]);
});
