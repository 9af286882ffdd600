import { type AbortReason, defineJob, handle } from '@surety/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lease, leases, scriptedBackend } from '../support/scripted-backend.ts';
import { deferred, pass, stopNow, stopTime, type Trial, trial } from '../support/worker-trial.ts';

const job = defineJob('test.job', { timeout: 300, retry: { base: 0 } });
let running: Trial | null = null;

beforeEach(stopTime);
afterEach(async () => {
  if (running !== null) await stopNow(running.worker, { drain: 0, grace: 0 });
  running = null;
  vi.useRealTimers();
});

test('B016: timeout, abort, grace with renewals, retry TIMEOUT; the slot is kept until the handler ends', async () => {
  const backend = scriptedBackend();
  const ends = [deferred(), deferred()];
  let live = 0;
  let most = 0;
  const kinds: string[] = [];
  running = trial({
    backend,
    concurrency: 1,
    lease: 600,
    grace: 900,
    handlers: [
      handle(job, async (_input, { signal }) => {
        live += 1;
        most = Math.max(most, live);
        signal.addEventListener('abort', () => kinds.push((signal.reason as AbortReason).kind));
        await ends.shift()?.promise;
        live -= 1;
      }),
    ],
  });
  const [first, second] = [ends[0], ends[1]];
  backend.give(...leases(2));
  await running.worker.start();
  await pass(299);
  expect(kinds).toEqual([]);
  await pass(101);
  expect(kinds).toEqual(['timeout']);
  expect(backend.settled).toEqual([]);
  await pass(700);
  expect(backend.renewals.length).toBeGreaterThanOrEqual(3);
  expect(backend.settled).toEqual([]);
  await pass(300);
  expect(backend.settled).toMatchObject([{ kind: 'retry', error: { code: 'TIMEOUT', attempt: 1 } }]);
  expect(running.of('attempt')).toMatchObject([{ outcome: 'retried', code: 'TIMEOUT' }]);
  expect(running.of('zombie')).toMatchObject([{ state: 'running' }]);
  await pass(30_000);
  expect(running.of('started')).toHaveLength(1);
  first?.resolve();
  await pass(50);
  expect(running.of('zombie').map(({ state }) => state)).toEqual(['running', 'ended']);
  expect(backend.settled).toHaveLength(1);
  expect(running.of('started')).toHaveLength(2);
  expect(most).toBe(1);
  second?.resolve();
  await pass(10);
  expect(backend.settled).toMatchObject([{ kind: 'retry' }, { kind: 'complete' }]);
});

test('B016: a result that comes within the grace is discarded too', async () => {
  const backend = scriptedBackend();
  running = trial({
    backend,
    handlers: [
      handle(
        job,
        (_input, { signal }) =>
          new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('late'))),
      ),
    ],
  });
  backend.give(lease());
  await running.worker.start();
  await pass(500);
  expect(backend.settled).toMatchObject([{ kind: 'retry', error: { code: 'TIMEOUT' } }]);
  expect(running.of('zombie')).toEqual([]);
});

test('B016: a zombie gives its slot back after `zombie`, once, also when it returns later', async () => {
  const backend = scriptedBackend();
  const never = deferred();
  let starts = 0;
  running = trial({
    backend,
    concurrency: 1,
    grace: 0,
    zombie: '5s',
    handlers: [handle(job, () => (starts++ === 0 ? never.promise : undefined))],
  });
  backend.give(...leases(2));
  await running.worker.start();
  await pass(4000);
  expect(starts).toBe(1);
  await pass(2000);
  expect(running.of('zombie').map(({ state }) => state)).toEqual(['running', 'given-up']);
  expect(starts).toBe(2);
  never.resolve();
  await pass(100);
  expect(running.of('zombie')).toHaveLength(2);
  expect(running.worker.health().running).toBe(0);
});

test('a timeout on the last attempt buries the job', async () => {
  const backend = scriptedBackend();
  running = trial({ backend, grace: 0, handlers: [handle(job, () => new Promise<void>(() => undefined))] });
  backend.give(lease({ attempt: 8 }));
  await running.worker.start();
  await pass(600);
  expect(backend.settled).toMatchObject([{ kind: 'bury', error: { code: 'TIMEOUT' } }]);
  expect(running.of('dead')).toHaveLength(1);
});

test('a stop during the grace of a timeout still charges the timeout', async () => {
  const backend = scriptedBackend();
  running = trial({ backend, handlers: [handle(job, () => new Promise<void>(() => undefined))] });
  backend.give(lease());
  await running.worker.start();
  await pass(500);
  await stopNow(running.worker, { drain: 0, grace: 0 });
  expect(backend.settled).toMatchObject([{ kind: 'retry', error: { code: 'TIMEOUT' } }]);
});

test('B058: timeout, lease and zombie above 2^31 ms neither fire early nor spin', async () => {
  const backend = scriptedBackend();
  const long = defineJob('test.long', { timeout: '40d' });
  const end = deferred();
  let aborted = false;
  running = trial({
    backend,
    lease: '60d',
    zombie: '90d',
    handlers: [
      handle(long, async (_input, { signal }) => {
        signal.addEventListener('abort', () => (aborted = true));
        await end.promise;
      }),
    ],
  });
  backend.give(lease({ type: 'test.long' }));
  await running.worker.start();
  await pass(60_000);
  expect(aborted).toBe(false);
  expect(backend.renewals).toEqual([]);
  expect(backend.claims.length).toBeLessThan(20);
  end.resolve();
  await pass(20);
  expect(backend.settled).toMatchObject([{ kind: 'complete' }]);
});

test('B058: a rate so low that its wait overflows a timer does not spin', async () => {
  const backend = scriptedBackend();
  const setTimer = vi.spyOn(globalThis, 'setTimeout');
  running = trial({ backend, rate: { perSecond: 1e-7 }, handlers: [handle(job, () => undefined)] });
  backend.script.claim = async ({ max }) => ({
    leases: leases(max > 0 ? 3 : 0),
    paused: false,
    leasedAt: performance.now(),
  });
  await running.worker.start();
  await pass(100);
  setTimer.mockClear();
  await pass(10_000);
  expect(running.of('started')).toHaveLength(1);
  expect(setTimer.mock.calls.length).toBeLessThan(50);
});
