import { createClient, defineJob, handle, type StopReport, SuretyError } from '@surety/core';
import { memory } from '@surety/memory';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lease, leases, scriptedBackend } from '../support/scripted-backend.ts';
import { deferred, pass, stopNow, stopTime, type Trial, trial } from '../support/worker-trial.ts';

const job = defineJob('test.job');
const hang = (): Promise<never> => new Promise(() => undefined);
let running: Trial | null = null;

beforeEach(stopTime);
afterEach(async () => {
  if (running !== null) await stopNow(running.worker, { drain: 0, grace: 0 });
  running = null;
  vi.useRealTimers();
});

/** How long a stop takes, in the time that stands still. */
async function timed(stop: Promise<StopReport>): Promise<{ report: StopReport; ms: number }> {
  const startedAt = performance.now();
  let ended = -1;
  const report = stop.then((answer) => {
    ended = performance.now() - startedAt;
    return answer;
  });
  for (let step = 0; step < 2000 && ended < 0; step += 1) await pass(10);
  return { report: await report, ms: ended };
}

test('B038: a stop of a worker that never connected is bounded, and so is its start', async () => {
  const backend = scriptedBackend();
  backend.script.open = hang;
  backend.script.close = hang;
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  const started = running.worker.start();
  await pass(100);
  const { report, ms } = await timed(running.worker.stop({ grace: 2000 }));
  expect(ms).toBeLessThanOrEqual(3000);
  expect(report).toEqual({ finished: 0, released: 0, abandoned: 0 });
  await pass(15_000);
  await started;
  expect(running.worker.health().state).toBe('stopped');
  expect(backend.claims).toEqual([]);
});

test('B038: so it is while the store is away and opening is tried again and again', async () => {
  const backend = scriptedBackend();
  backend.script.open = () => Promise.reject(new SuretyError('BACKEND_UNAVAILABLE', 'away'));
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  await running.worker.start();
  await pass(20_000);
  expect(running.worker.health()).toMatchObject({ ok: false, state: 'starting' });
  expect(running.of('degraded')).toHaveLength(1);
  const opened = backend.opened;
  expect(opened).toBeLessThanOrEqual(12);
  const { ms } = await timed(running.worker.stop());
  expect(ms).toBeLessThanOrEqual(1500);
  await pass(60_000);
  expect(backend.opened).toBe(opened);
});

test.each([
  ['refuses everything', () => Promise.reject(new Error('away'))],
  ['answers nothing', hang],
])(
  'B038: lost after connect, the store %s: bounded, and the report says what was abandoned',
  async (_name, gone) => {
    const backend = scriptedBackend();
    running = trial({ backend, concurrency: 2, handlers: [handle(job, hang)] });
    backend.give(...leases(2));
    await running.worker.start();
    await pass(1000);
    Object.assign(backend.script, { claim: gone, settle: gone, renew: gone, close: gone });
    await pass(1000);
    const { report, ms } = await timed(running.worker.stop({ drain: 0, grace: 1000 }));
    expect(ms).toBeLessThanOrEqual(1000 + 2000 + 1500);
    expect(report).toEqual({ finished: 0, released: 0, abandoned: 2 });
  },
);

test('B038: lost while a stop waits for a running job', async () => {
  const backend = scriptedBackend();
  const end = deferred();
  running = trial({ backend, handlers: [handle(job, () => end.promise)] });
  backend.give(lease());
  await running.worker.start();
  await pass(1000);
  const stopped = running.worker.stop({ drain: 5000 });
  await pass(500);
  Object.assign(backend.script, {
    claim: hang,
    settle: () => Promise.reject(new Error('gone')),
    close: hang,
  });
  end.resolve();
  const { report, ms } = await timed(stopped);
  expect(ms).toBeLessThanOrEqual(2500);
  expect(report).toEqual({ finished: 0, released: 0, abandoned: 1 });
});

test('B042: an idle worker in a long poll stops at once', async () => {
  const backend = scriptedBackend();
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  await running.worker.start();
  await pass(1000);
  expect(backend.waiting).toBe(1);
  const { ms } = await timed(running.worker.stop());
  expect(ms).toBeLessThanOrEqual(20);
  expect(backend.waiting).toBe(0);
  expect(backend.closed).toBe(1);
});

test('B042: start and stop twenty times: one poller each time, nothing left of the others', async () => {
  const backend = scriptedBackend();
  const { worker } = (running = trial({ backend, handlers: [handle(job, () => undefined)] }));
  for (let round = 0; round < 20; round += 1) {
    await worker.start();
    await pass(100);
    expect(backend.waiting).toBe(1);
    await stopNow(worker);
    expect(backend.waiting).toBe(0);
  }
  await worker.start();
  const before = backend.claims.length;
  backend.give(...leases(1));
  await pass(5000);
  // One that brings the job, one that waits after it.
  expect(backend.claims.length - before).toBeLessThanOrEqual(2);
  expect(running.of('attempt')).toHaveLength(1);
  expect(backend.opened).toBe(21);
  expect(backend.closed).toBe(20);
});

test('B042: an opening that ends only after a stop and a new start begins no second poller', async () => {
  const backend = scriptedBackend();
  const [first, second] = [deferred(), deferred()];
  let opens = 0;
  backend.script.open = () => (opens++ === 0 ? first.promise : second.promise);
  const { worker } = (running = trial({ backend, handlers: [handle(job, () => undefined)] }));
  const started = worker.start();
  await pass(100);
  await stopNow(worker);
  const again = worker.start();
  await pass(2000);
  expect(opens).toBe(2);
  first.resolve();
  await pass(2000);
  // Only the second start can say that it is open.
  expect(worker.health().state).toBe('starting');
  expect(backend.claims).toEqual([]);
  second.resolve();
  await pass(100);
  await Promise.all([started, again]);
  expect(worker.health().state).toBe('running');
  expect(backend.waiting).toBe(1);
  backend.give(...leases(4));
  await pass(100);
  expect(running.of('started')).toHaveLength(4);
});

test('jobs that a claim brings while the worker stops are handed back, unspent', async () => {
  const backend = scriptedBackend();
  // The store leased before it saw the abort.
  backend.script.claim = async ({ signal }) => {
    await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    return { leases: leases(3), paused: false, leasedAt: performance.now() };
  };
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  await running.worker.start();
  await pass(100);
  const { report } = await timed(running.worker.stop());
  expect(report).toEqual({ finished: 0, released: 3, abandoned: 0 });
  expect(backend.settled).toMatchObject(
    Array.from({ length: 3 }, () => ({ kind: 'release', reason: 'unstarted', delayMs: 0 })),
  );
  expect(running.of('started')).toEqual([]);
});

test('so are those of a settle-and-claim', async () => {
  const backend = scriptedBackend({ both: true });
  const answer = deferred();
  backend.script.both = async (_settlements, _request, plain) => {
    await answer.promise;
    return plain();
  };
  running = trial({ backend, concurrency: 1, handlers: [handle(job, () => undefined)] });
  backend.give(...leases(2));
  await running.worker.start();
  await pass(100);
  const stopped = running.worker.stop();
  await pass(50);
  answer.resolve();
  const { report } = await timed(stopped);
  expect(report).toEqual({ finished: 1, released: 1, abandoned: 0 });
});

test('the report tells what was finished and what was released', async () => {
  const backend = scriptedBackend();
  let starts = 0;
  running = trial({
    backend,
    concurrency: 3,
    handlers: [
      handle(job, () => {
        starts += 1;
        if (starts === 1) return new Promise((resolve) => setTimeout(resolve, 500));
        if (starts === 2)
          return new Promise((_resolve, reject) => setTimeout(() => reject(new Error('x')), 500));
        return hang();
      }),
    ],
  });
  backend.give(...leases(3));
  await running.worker.start();
  await pass(100);
  const { report, ms } = await timed(running.worker.stop({ drain: 1000, grace: 300 }));
  expect(report).toEqual({ finished: 2, released: 1, abandoned: 0 });
  expect(ms).toBeGreaterThanOrEqual(1290);
  expect(ms).toBeLessThanOrEqual(1400);
});

test('stopping twice is once; stopping before a start and after a stop is nothing', async () => {
  const backend = scriptedBackend();
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  const { worker } = running;
  const nothing = { finished: 0, released: 0, abandoned: 0 };
  expect(await worker.stop()).toEqual(nothing);
  await worker.start();
  backend.give(lease());
  await pass(10);
  const [one, two] = [worker.stop(), worker.stop()];
  await pass(5000);
  expect(await one).toBe(await two);
  expect(await worker.stop()).toEqual(nothing);
  expect(running.of('state').map(({ state }) => state)).toEqual([
    'starting',
    'running',
    'stopping',
    'stopped',
  ]);
  expect(() => worker.stop({ drane: 1 } as never)).toThrow(/drane/);
});

test('a start that is refused says why, lets go, and may be tried again', async () => {
  const backend = scriptedBackend();
  let refused = true;
  backend.script.open = () =>
    refused ? Promise.reject(new SuretyError('PERMISSION_DENIED', 'wrong password')) : Promise.resolve();
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  await expect(running.worker.start()).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  expect(running.worker.health()).toMatchObject({ ok: false, state: 'stopped' });
  expect(running.worker.health().reason).toContain('wrong password');
  refused = false;
  await running.worker.start();
  expect(running.worker.health()).toMatchObject({ ok: true, state: 'running', reason: null });
  await expect(running.worker.start()).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
});

test('a store that is away at the start is picked up when it is back', async () => {
  const backend = scriptedBackend();
  let away = true;
  backend.script.open = () =>
    away ? Promise.reject(new SuretyError('BACKEND_UNAVAILABLE', 'away')) : Promise.resolve();
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  await running.worker.start();
  backend.give(lease());
  await pass(10_000);
  away = false;
  await pass(7000);
  expect(running.of('attempt')).toHaveLength(1);
  expect(running.of('recovered')).toHaveLength(1);
});

test('a refusal that comes after the first tries ends the worker and stays in its health', async () => {
  const backend = scriptedBackend();
  let fault = new SuretyError('BACKEND_UNAVAILABLE', 'away');
  backend.script.open = () => Promise.reject(fault);
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  await running.worker.start();
  fault = new SuretyError('SCHEMA_TOO_NEW', 'newer');
  await pass(10_000);
  expect(running.worker.health()).toMatchObject({ ok: false, state: 'stopped' });
  expect(running.worker.health().reason).toContain('newer');
});

test('a backend shared with a client outlives the worker and is closed with the last', async () => {
  const backend = memory();
  const client = createClient({ backend });
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  await running.worker.start();
  await client.enqueue(job, {});
  await pass(100);
  await stopNow(running.worker);
  await client.enqueue(job, {});
  const { ready } = await backend.counts('default', { timeoutMs: 1000 });
  expect(ready.value).toBe(1);
  await client.close();
});

test('await using stops the worker', async () => {
  const backend = scriptedBackend();
  {
    const { worker } = trial({ backend, handlers: [handle(job, () => undefined)] });
    await worker.start();
    await pass(10);
    vi.useRealTimers();
    await using _worker = worker;
  }
  expect(backend.closed).toBe(1);
});
