import { createClient, defineJob, handle } from '@surety/core';
import type { Settlement } from '@surety/core/contract';
import { memory } from '@surety/memory';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lease, leases, scriptedBackend } from '../support/scripted-backend.ts';
import { deferred, pass, stopNow, stopTime, type Trial, trial } from '../support/worker-trial.ts';

const job = defineJob('test.job', { retry: { maxAttempts: 3, base: '1s', cap: '1m' } });
const hang = (): Promise<never> => new Promise(() => undefined);
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
let running: Trial | null = null;

beforeEach(stopTime);
afterEach(async () => {
  if (running !== null) await stopNow(running.worker, { drain: 0, grace: 0 });
  running = null;
  vi.useRealTimers();
});

function of(settled: readonly Settlement[], id: string): Settlement[] {
  return settled.filter((settlement) => settlement.lease.id === id);
}

test('the first loss runs again at once', async () => {
  const backend = scriptedBackend();
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  backend.give(lease({ attempt: 2, lostClaims: 1 }));
  await running.worker.start();
  await pass(10);
  expect(backend.settled).toMatchObject([{ kind: 'complete' }]);
});

test.each([2, 3, 5])(
  'G4.8: after loss %i it is put back with backoff, once, then it runs',
  async (lostClaims) => {
    const backend = scriptedBackend();
    running = trial({ backend, handlers: [handle(job, () => undefined)] });
    const lost = { attempt: lostClaims + 1, lostClaims, maxAttempts: 10 };
    backend.give(lease(lost));
    await running.worker.start();
    await pass(10);
    expect(running.of('started')).toEqual([]);
    expect(backend.settled).toMatchObject([{ kind: 'release', reason: 'loss-backoff' }]);
    const [settlement] = backend.settled;
    const delayMs = settlement?.kind === 'release' ? settlement.delayMs : 0;
    const plain = Math.min(1000 * 2 ** lostClaims, 60_000);
    expect(delayMs).toBeGreaterThanOrEqual(plain * 0.5);
    expect(delayMs).toBeLessThanOrEqual(plain * 1.5);
    backend.give(lease({ ...lost, lossBackedOff: true }));
    await pass(10);
    expect(backend.settled[1]).toMatchObject({ kind: 'complete' });
  },
);

test('B046: past its limit it is buried as lost, without a start', async () => {
  const backend = scriptedBackend();
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  backend.give(lease({ attempt: 4, lostClaims: 3 }));
  await running.worker.start();
  await pass(10);
  expect(running.of('started')).toEqual([]);
  expect(backend.settled).toMatchObject([
    {
      kind: 'bury',
      error: { code: 'WORKER_LOST', attempt: 3, message: expect.stringContaining('lost 3 times') },
    },
  ]);
});

test('B046: a job that loses its worker each time is started three times, then dead; healthy ones complete', async () => {
  const backend = memory();
  const client = createClient({ backend });
  const poison = defineJob('poison', { retry: { maxAttempts: 3, base: '1s' } });
  const starts: number[] = [];
  const done: unknown[] = [];
  const { id } = await client.enqueue(poison, {});
  for (let n = 0; n < 10; n += 1) await client.enqueue(job, { n });
  const deaths: string[] = [];
  // A killed worker neither renews nor settles: its waiting claim ends, its calls go nowhere from the crash on.
  const worker = (): Trial => {
    const crash = new AbortController();
    const gone = new Promise<never>(() => undefined);
    const alive =
      <Args extends unknown[], Answer>(call: (...args: Args) => Promise<Answer>) =>
      (...args: Args): Promise<Answer> =>
        crash.signal.aborted ? gone : call(...args);
    const { settleAndClaim: _unused, ...calls } = backend;
    return trial({
      backend: {
        ...calls,
        claim: alive((request: Parameters<typeof backend.claim>[0]) => {
          const signals = request.signal === null ? [crash.signal] : [crash.signal, request.signal];
          return backend.claim({ ...request, signal: AbortSignal.any(signals) });
        }),
        renew: alive((...args: Parameters<typeof backend.renew>) => backend.renew(...args)),
        settle: alive((...args: Parameters<typeof backend.settle>) => backend.settle(...args)),
        close: () => Promise.resolve(),
      },
      lease: 1000,
      concurrency: 2,
      onDead: ({ jobId }) => deaths.push(jobId),
      handlers: [
        handle(poison, () => {
          starts.push(performance.now());
          crash.abort();
          return gone;
        }),
        handle(job, (input) => {
          done.push(input);
        }),
      ],
    });
  };
  for (let crash = 0; crash < 4; crash += 1) {
    const { worker: next } = worker();
    await next.start();
    await pass(20_000);
    await stopNow(next, { drain: 0, grace: 0 });
  }
  expect(starts).toHaveLength(3);
  expect((starts[2] ?? 0) - (starts[1] ?? 0)).toBeGreaterThanOrEqual(2000);
  expect(deaths).toEqual([id]);
  expect(new Set(done.map((input) => (input as { n: number }).n)).size).toBe(10);
  const dead = await backend.deadLetters.show('default', id, { timeoutMs: 1000 });
  expect(dead).toMatchObject({ reason: 'WORKER_LOST' });
  await client.close();
});

test('a suspect starts only when all that was held unstarted is back at the store', async () => {
  const backend = scriptedBackend();
  const suspect = lease({ attempt: 2, lostClaims: 1, maxAttempts: 9 });
  const back = deferred();
  const order: string[] = [];
  backend.script.settle = async (settlements, plain) => {
    if (!settlements.some(({ kind }) => kind === 'release')) return plain();
    order.push('handing back');
    await back.promise;
    order.push('handed back');
    return plain();
  };
  // Fast jobs first, so that the worker claims ahead.
  let slow = false;
  running = trial({
    backend,
    concurrency: 2,
    handlers: [
      handle(job, (_input, { id }) => {
        order.push(id === suspect.id ? 'suspect' : 'other');
        return slow ? hang() : undefined;
      }),
    ],
  });
  backend.give(...leases(20));
  await running.worker.start();
  await pass(50);
  slow = true;
  order.length = 0;
  backend.give(...leases(3).slice(0, 1), suspect, ...leases(10));
  await pass(100);
  expect(order).toEqual(['other', 'handing back']);
  back.resolve();
  await pass(100);
  expect(order).toEqual(['other', 'handing back', 'handed back', 'suspect']);
  const released = backend.settled.filter(({ kind }) => kind === 'release');
  expect(released.length).toBeGreaterThan(0);
  expect(released).toMatchObject(released.map(() => ({ reason: 'unstarted', delayMs: 0 })));
  await pass(2000);
  // While it runs, nothing is held: the one other slot is taken, so nothing is claimed.
  expect(running.of('started').length).toBe(20 + 2);
});

test('what has ended and is not settled yet is settled before a suspect starts', async () => {
  const backend = scriptedBackend();
  const suspect = lease({ attempt: 2, lostClaims: 1, queue: 'elsewhere', type: 'elsewhere' });
  const answer = deferred();
  backend.script.settle = async (_settlements, plain) => {
    await answer.promise;
    return plain();
  };
  const elsewhere = defineJob('elsewhere', { queue: 'elsewhere' });
  running = trial({
    backend,
    concurrency: 5,
    handlers: [handle(job, () => undefined), handle(elsewhere, () => undefined)],
  });
  const others = leases(3);
  backend.give(...others);
  await running.worker.start();
  await pass(100);
  backend.give(suspect);
  await pass(100);
  // It was claimed, and waits for the settlement that is on the wire.
  expect(backend.left).toBe(0);
  expect(running.of('started')).toHaveLength(3);
  answer.resolve();
  await pass(100);
  const order = [...running.of('attempt')].map(({ jobId }) => jobId);
  expect(order).toEqual([...others.map(({ id }) => id), suspect.id]);
});

test('a suspect does not start when its neighbours could not be handed back', async () => {
  const backend = scriptedBackend();
  const suspect = lease({ attempt: 2, lostClaims: 1, maxAttempts: 9 });
  let away = false;
  let slow = false;
  backend.script.settle = (_settlements, plain) => (away ? Promise.reject(new Error('away')) : plain());
  running = trial({ backend, concurrency: 2, handlers: [handle(job, () => (slow ? hang() : undefined))] });
  backend.give(...leases(20));
  await running.worker.start();
  await pass(50);
  slow = true;
  away = true;
  backend.give(...leases(1), suspect, ...leases(10));
  await pass(5000);
  expect(running.of('started').some(({ jobId }) => jobId === suspect.id)).toBe(false);
  away = false;
  await pass(10_000);
  expect(of(backend.settled, suspect.id)[0]).toMatchObject({ kind: 'release', reason: 'unstarted' });
});

test('a suspect without a slot is never held: it goes back, unspent, for a moment', async () => {
  const backend = scriptedBackend();
  const suspect = lease({ attempt: 2, lostClaims: 1 });
  running = trial({ backend, concurrency: 1, handlers: [handle(job, hang)] });
  backend.script.claim = async (_request, plain) =>
    backend.claims.length === 1
      ? { leases: [lease(), suspect], paused: false, leasedAt: performance.now() }
      : plain();
  await running.worker.start();
  await pass(100);
  // The suspect has the slot, its neighbour went back; or the other way round: never both, never one held.
  expect(running.of('started')).toHaveLength(1);
  expect(backend.settled).toMatchObject([{ kind: 'release', reason: 'unstarted' }]);
});

test('beside a suspect that runs long, jobs start on a store that answers within the turn, and are not passed to and fro', async () => {
  const backend = scriptedBackend({ both: true });
  const suspect = lease({ attempt: 2, lostClaims: 1 });
  const handler = handle(job, (_input, { attempt }) => (attempt === 2 ? hang() : undefined));
  running = trial({ backend, concurrency: 4, handlers: [handler] });
  backend.script.settle = (settlements, plain) => {
    for (const { kind, lease: returned } of settlements) if (kind === 'release') backend.give(returned);
    return plain();
  };
  backend.script.both = (settlements, _request, plain) => {
    for (const { kind, lease: returned } of settlements) if (kind === 'release') backend.give(returned);
    return plain();
  };
  backend.give(suspect, ...leases(300));
  await running.worker.start();
  await pass(5000);
  expect(running.of('attempt').filter(({ outcome }) => outcome === 'completed')).toHaveLength(300);
  expect(backend.settled.filter(({ kind }) => kind === 'release').length).toBeLessThan(300);
});

test('a saturated worker runs suspects too', async () => {
  const backend = memory();
  const client = createClient({ backend });
  const done: number[] = [];
  const lossy = defineJob('lossy', { retry: { maxAttempts: 20 } });
  running = trial({
    backend,
    concurrency: 2,
    lease: '10s',
    handlers: [
      handle(job, () => sleep(1)),
      handle(lossy, (_input, { attempt }) => {
        done.push(attempt);
      }),
    ],
  });
  await backend.open({ timeoutMs: 1000, notify: () => undefined });
  for (let n = 0; n < 5; n += 1) await client.enqueue(lossy, {});
  await backend.claim({
    queue: 'default',
    max: 10,
    leaseMs: 1000,
    waitMs: 0,
    nonce: 'c0ffee00-0000-4000-8000-000000000000',
    signal: null,
    timeoutMs: 1000,
  });
  // In the middle of a backlog: the lost ones are ready again after 1 s.
  for (let n = 0; n < 400; n += 1) await client.enqueue(job, {});
  await pass(1100);
  for (let n = 0; n < 3000; n += 1) await client.enqueue(job, {});
  await running.worker.start();
  await pass(1000);
  const { ready } = await backend.counts('default', { timeoutMs: 1000 });
  expect(ready.value).toBeGreaterThan(100);
  expect(done.length).toBeGreaterThan(0);
  await pass(10_000);
  expect(done).toEqual([2, 2, 2, 2, 2]);
  await client.close();
});

test('of jobs lost twice one runs at a time', async () => {
  const backend = scriptedBackend();
  let live = 0;
  let most = 0;
  running = trial({
    backend,
    concurrency: 5,
    handlers: [
      handle(job, async () => {
        live += 1;
        most = Math.max(most, live);
        await sleep(100);
        live -= 1;
      }),
    ],
  });
  backend.script.settle = (settlements, plain) => {
    for (const { kind, lease: back } of settlements)
      if (kind === 'release') setTimeout(() => backend.give(back), 150);
    return plain();
  };
  const twice = { attempt: 3, lostClaims: 2, lossBackedOff: true, maxAttempts: 9 };
  backend.give(lease(twice), lease(twice), lease(twice));
  await running.worker.start();
  await pass(3000);
  expect(most).toBe(1);
  expect(backend.settled.filter(({ kind }) => kind === 'complete')).toHaveLength(3);
});
