import { defineJob, handle, SuretyError } from '@surety/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lease, leases, scriptedBackend } from '../support/scripted-backend.ts';
import { deferred, pass, stopNow, stopTime, type Trial, trial } from '../support/worker-trial.ts';

const job = defineJob('test.job');
let running: Trial | null = null;

beforeEach(stopTime);
afterEach(async () => {
  if (running !== null) await stopNow(running.worker, { drain: 0, grace: 0 });
  running = null;
  vi.useRealTimers();
});

const synchronously = (fault: unknown) => (): never => {
  throw fault;
};
const trap = (): never => {
  throw new Error('do not look');
};
const FAULTS: [string, () => unknown][] = [
  ['a reset', () => Promise.reject(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }))],
  ['a coded error', () => Promise.reject(new SuretyError('BACKEND_UNAVAILABLE', 'away'))],
  ['rights', () => Promise.reject(new SuretyError('PERMISSION_DENIED', 'no'))],
  ['undefined', () => Promise.reject(undefined)],
  ['a garbage object', () => Promise.reject(Object.create(null))],
  [
    'an error that cannot be read',
    () => Promise.reject(new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap })),
  ],
  ['a synchronous throw', synchronously(new Error('at once'))],
  ['a synchronous throw of nothing', synchronously(undefined)],
  ['no promise', () => undefined],
  ['no claim', () => Promise.resolve(null)],
  ['a claim without leases', () => Promise.resolve({ paused: false, leasedAt: 1 })],
  [
    'a claim without its beginning',
    () => Promise.resolve({ leases: leases(1), paused: false, leasedAt: Number.NaN }),
  ],
  ['a lease that is none', () => Promise.resolve({ leases: [{}], paused: false, leasedAt: 1 })],
];

test.each(FAULTS)(
  'B024: claiming goes on after %s, with one degraded and one recovered',
  async (_name, fault) => {
    const backend = scriptedBackend();
    let failures = 0;
    backend.script.claim = (_request, plain) => (failures++ < 4 ? fault() : plain());
    running = trial({ backend, handlers: [handle(job, () => undefined)] });
    await running.worker.start();
    await pass(100);
    expect(running.worker.health()).toMatchObject({ ok: false, state: 'running' });
    expect(running.worker.health().reason).toContain('claim');
    backend.give(lease());
    await pass(20_000);
    expect(backend.settled).toMatchObject([{ kind: 'complete' }]);
    expect(running.of('degraded')).toHaveLength(1);
    expect(running.of('recovered')).toHaveLength(1);
    expect(running.worker.health()).toMatchObject({ ok: true, reason: null });
  },
);

test.each(FAULTS.slice(0, 8))(
  'B024: so it does where settle and claim are one call: %s',
  async (_name, fault) => {
    const backend = scriptedBackend({ both: true });
    let failures = 0;
    backend.script.both = (_settlements, _request, plain) => (failures++ < 3 ? fault() : plain());
    running = trial({ backend, concurrency: 1, handlers: [handle(job, () => undefined)] });
    backend.give(...leases(10));
    await running.worker.start();
    await pass(60_000);
    const ids = new Set(backend.settled.map(({ lease: { id } }) => id));
    expect(ids.size).toBe(10);
    expect(failures).toBeGreaterThan(3);
    expect(running.worker.health().ok).toBe(true);
  },
);

test('B024: an adapter that never answers is given up after its time and asked again', async () => {
  const backend = scriptedBackend();
  let calls = 0;
  backend.script.claim = (_request, plain) => (calls++ === 0 ? new Promise(() => undefined) : plain());
  running = trial({ backend, timeout: '2s', handlers: [handle(job, () => undefined)] });
  await running.worker.start();
  backend.give(lease());
  await pass(13_900);
  expect(calls).toBe(1);
  await pass(1000);
  expect(running.of('degraded')).toMatchObject([{ code: 'ADAPTER_BROKE_CONTRACT' }]);
  expect(backend.settled).toHaveLength(1);
});

test('B055: 30 s of failing claims cost at most 15 calls, and the first success resets the pause', async () => {
  const backend = scriptedBackend();
  let away = true;
  backend.script.claim = (_request, plain) => (away ? Promise.reject(new Error('away')) : plain());
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  await running.worker.start();
  await pass(30_000);
  expect(backend.claims.length).toBeLessThanOrEqual(15);
  expect(backend.claims.length).toBeGreaterThanOrEqual(7);
  expect(running.of('degraded')).toHaveLength(1);
  away = false;
  await pass(7000);
  expect(running.of('recovered')).toHaveLength(1);
  away = true;
  const before = backend.claims.length;
  backend.give(lease());
  await pass(1000);
  // Again from the shortest pause on: several tries within the first second.
  expect(backend.claims.length - before).toBeGreaterThanOrEqual(2);
});

test('B055: failing settlements are tried with growing pauses too, beside claims that succeed', async () => {
  const backend = scriptedBackend();
  backend.script.settle = () => Promise.reject(new Error('no'));
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  backend.give(lease());
  await running.worker.start();
  await pass(25_000);
  expect(backend.verbs.filter((verb) => verb === 'settle').length).toBeLessThanOrEqual(13);
  expect(running.worker.health().ok).toBe(false);
});

test('a settle that succeeds beside a claim that fails does not hide it: health is back within seconds', async () => {
  const backend = scriptedBackend();
  const answer = deferred();
  let calls = 0;
  backend.script.settle = async (_settlements, plain) => {
    await answer.promise;
    return plain();
  };
  backend.script.claim = (_request, plain) => (calls++ === 1 ? Promise.reject(new Error('away')) : plain());
  const slow = defineJob('slow');
  running = trial({
    backend,
    concurrency: 3,
    handlers: [handle(job, () => undefined), handle(slow, () => new Promise(() => undefined))],
  });
  backend.give(lease(), lease({ type: 'slow' }));
  await running.worker.start();
  await pass(50);
  answer.resolve();
  await pass(2000);
  expect(running.of('degraded')).toHaveLength(1);
  expect(running.worker.health()).toMatchObject({ ok: true, reason: null });
});

test('an idle worker makes few calls: one long poll after another', async () => {
  const backend = scriptedBackend();
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  await running.worker.start();
  await pass(600_000);
  expect(backend.verbs.length).toBeLessThanOrEqual(61);
  expect(new Set(backend.verbs)).toEqual(new Set(['claim']));
});

test('a backend whose long poll does not wait is not asked in a loop', async () => {
  const backend = scriptedBackend();
  backend.script.claim = () => Promise.resolve({ leases: [], paused: false, leasedAt: performance.now() });
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  await running.worker.start();
  await pass(10_000);
  expect(backend.claims.length).toBeLessThanOrEqual(201);
});

test('a busy worker waits for nothing: 1000 jobs one by one in no time but their own', async () => {
  const backend = scriptedBackend({ both: true });
  running = trial({ backend, concurrency: 1, claimAhead: false, handlers: [handle(job, () => undefined)] });
  backend.give(...leases(1000));
  await running.worker.start();
  await pass(50);
  expect(running.of('attempt')).toHaveLength(1000);
});
