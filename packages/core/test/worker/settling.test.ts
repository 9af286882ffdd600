import { defineJob, handle, SuretyError } from '@surety/core';
import type { RenewOutcome, SettleOutcome } from '@surety/core/contract';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { guardedCalls } from '../../src/startup/guarded-calls.ts';
import { Attempt } from '../../src/worker/attempt.ts';
import { LeaseKeeper } from '../../src/worker/lease-keeper.ts';
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

const unknown: SettleOutcome = { status: 'unknown', error: new SuretyError('OUTCOME_UNKNOWN', 'lost') };

test('a settle waits for a renewal of its lease that is under way', async () => {
  const backend = scriptedBackend();
  const renewal = deferred<readonly RenewOutcome[]>();
  const end = deferred();
  backend.script.renew = () => renewal.promise;
  running = trial({ backend, lease: 3000, handlers: [handle(job, () => end.promise)] });
  backend.give(lease());
  await running.worker.start();
  await pass(1200);
  expect(backend.renewals).toHaveLength(1);
  end.resolve();
  await pass(200);
  expect(backend.settled).toEqual([]);
  renewal.resolve([{ status: 'renewed', leaseMs: 3000 }]);
  await pass(0);
  expect(backend.settled).toMatchObject([{ kind: 'complete' }]);
  expect(running.of('attempt')).toMatchObject([{ outcome: 'completed' }]);
});

test('a renewal that says lease-lost beside a waiting settle: nothing is sent', async () => {
  const backend = scriptedBackend();
  const renewal = deferred<readonly RenewOutcome[]>();
  const end = deferred();
  backend.script.renew = () => renewal.promise;
  running = trial({ backend, lease: 3000, handlers: [handle(job, () => end.promise)] });
  backend.give(lease());
  await running.worker.start();
  await pass(1200);
  end.resolve();
  await pass(100);
  renewal.resolve([{ status: 'lease-lost' }]);
  await pass(500);
  expect(backend.settled).toEqual([]);
  expect(running.of('attempt')).toMatchObject([{ outcome: 'lease-lost' }]);
  expect(running.of('lease-lost')).toHaveLength(1);
});

test('what is on the wire is not renewed, and no renewal judges it', async () => {
  const backend = scriptedBackend();
  const answer = deferred<readonly SettleOutcome[]>();
  const end = deferred();
  const [fast, slow] = leases(2);
  backend.script.settle = (_settlements, plain) =>
    backend.verbs.includes('renew') ? plain() : answer.promise;
  running = trial({
    backend,
    lease: 3000,
    handlers: [handle(job, (_input, { id }) => (id === slow?.id ? end.promise : undefined))],
  });
  if (fast && slow) backend.give(fast, slow);
  await running.worker.start();
  await pass(1200);
  expect(backend.renewals.map((held) => held.map(({ id }) => id))).toEqual([[slow?.id]]);
  answer.resolve([{ status: 'settled' }]);
  await pass(10);
  expect(running.of('attempt')).toMatchObject([{ jobId: fast?.id, outcome: 'completed' }]);
  end.resolve();
  await pass(10);
});

test('a group of leases is never split over two renewals, so that one failure cannot hide behind a success', async () => {
  const backend = scriptedBackend({ capabilities: { batch: { maxItems: 3, maxBytes: 1e6 } } });
  let calls = 0;
  backend.script.renew = (_held, plain) => (calls++ % 2 === 0 ? plain() : Promise.reject(new Error('away')));
  running = trial({
    backend,
    lease: 3000,
    concurrency: 4,
    handlers: [
      handle(
        job,
        (_input, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
      ),
    ],
  });
  backend.give(...leases(2));
  await running.worker.start();
  backend.give(...leases(2));
  await pass(1100);
  expect(backend.renewals.map(({ length }) => length)).toEqual([2, 2]);
});

test('a renewal that gives less than was asked is counted as less', async () => {
  const backend = scriptedBackend();
  backend.script.renew = (held) => held.map(() => ({ status: 'renewed', leaseMs: 400 }));
  running = trial({ backend, lease: 3000, handlers: [handle(job, () => new Promise(() => undefined))] });
  backend.give(lease());
  await running.worker.start();
  await pass(3000);
  // Every third of 400 ms instead of every third of 3 s.
  expect(backend.renewals.length).toBeGreaterThanOrEqual(8);
});

test('a renewal without an outcome for a lease does not end it', async () => {
  const backend = scriptedBackend();
  backend.script.renew = (held) => held.slice(1).map(() => ({ status: 'renewed', leaseMs: 3000 }));
  running = trial({ backend, lease: 3000, handlers: [handle(job, () => new Promise(() => undefined))] });
  backend.give(lease());
  await running.worker.start();
  await pass(2000);
  expect(running.of('lease-lost')).toEqual([]);
});

test('an unknown settle is sent again; lease-lost then means unknown, not lost', async () => {
  const backend = scriptedBackend();
  const answers: SettleOutcome[] = [unknown, { status: 'lease-lost' }];
  backend.script.settle = (settlements) => settlements.map(() => answers.shift());
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  backend.give(lease());
  await running.worker.start();
  await pass(2000);
  expect(backend.settled.map(({ kind }) => kind)).toEqual(['complete', 'complete']);
  expect(running.of('attempt')).toMatchObject([{ outcome: 'unknown' }]);
  expect(running.of('lease-lost')).toEqual([]);
  expect(running.of('degraded')).toHaveLength(1);
  expect(running.of('recovered')).toHaveLength(1);
});

test('an unknown settle that settles at the second try is told as what it was, once', async () => {
  const backend = scriptedBackend();
  const answers: (() => unknown)[] = [
    () => [unknown],
    () => Promise.reject(new Error('reset')),
    () => 'garbage',
    () => [],
    () => [{ status: 'settled' }],
  ];
  backend.script.settle = () => answers.shift()?.();
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  backend.give(lease());
  await running.worker.start();
  await pass(20_000);
  expect(running.of('attempt')).toMatchObject([{ outcome: 'completed' }]);
  expect(running.of('degraded')).toHaveLength(1);
});

test('an unknown settle whose lease then ends is told as unknown without another call', async () => {
  const backend = scriptedBackend();
  backend.script.settle = () => [unknown];
  backend.script.renew = (held) => held.map(() => ({ status: 'lease-lost' }));
  running = trial({ backend, lease: 3000, handlers: [handle(job, () => undefined)] });
  backend.give(lease());
  await running.worker.start();
  await pass(1500);
  const sent = backend.settled.length;
  await pass(30_000);
  expect(backend.settled).toHaveLength(sent);
  expect(running.of('attempt')).toMatchObject([{ outcome: 'unknown' }]);
  expect(running.worker.health().ok).toBe(true);
});

test('one refused settlement leaves its neighbours alone', async () => {
  const backend = scriptedBackend();
  backend.script.settle = (settlements) =>
    settlements.map(({ lease: { attempt } }) =>
      attempt === 2 ? { status: 'lease-lost' } : { status: 'settled' },
    );
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  backend.give(lease(), lease({ attempt: 2 }), lease());
  await running.worker.start();
  await pass(100);
  expect(
    running
      .of('attempt')
      .map(({ outcome }) => outcome)
      .sort(),
  ).toEqual(['completed', 'completed', 'lease-lost']);
  expect(running.of('lease-lost')).toMatchObject([{ attempt: 2 }]);
});

test('settlements go in batches no larger than the backend takes', async () => {
  const backend = scriptedBackend({ capabilities: { batch: { maxItems: 3, maxBytes: 1e6 } } });
  const sizes: number[] = [];
  backend.script.settle = (settlements, plain) => {
    sizes.push(settlements.length);
    return plain();
  };
  running = trial({ backend, concurrency: 10, handlers: [handle(job, () => undefined)] });
  backend.give(...leases(50));
  await running.worker.start();
  await pass(500);
  expect(backend.settled).toHaveLength(50);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(3);
  expect(Math.max(...backend.claims.map(({ max }) => max))).toBeLessThanOrEqual(3);
});

test('G2.6: a claim whose answer was lost is repeated with its nonce, and only then a new one is made', async () => {
  const backend = scriptedBackend({ capabilities: { claimReplay: true } });
  let calls = 0;
  backend.script.claim = (_request, plain) => (calls++ < 2 ? Promise.reject(new Error('reset')) : plain());
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  await running.worker.start();
  await pass(3000);
  const nonces = backend.claims.map(({ nonce }) => nonce);
  expect(new Set(nonces.slice(0, 3)).size).toBe(1);
  expect(backend.claims[1]?.waitMs).toBe(0);
  expect(nonces[3]).not.toBe(nonces[0]);
});

test('G2.6: without claimReplay, or when half a lease has passed, no nonce is used twice', async () => {
  for (const [claimReplay, away] of [
    [false, 5000],
    [true, 60_000],
  ] as const) {
    const backend = scriptedBackend({ capabilities: { claimReplay } });
    backend.script.claim = () => Promise.reject(new Error('reset'));
    running = trial({ backend, lease: 10_000, handlers: [handle(job, () => undefined)] });
    await running.worker.start();
    await pass(away);
    const nonces = backend.claims.map(({ nonce }) => nonce);
    expect(nonces.length).toBeGreaterThan(2);
    if (claimReplay) expect(new Set(nonces).size).toBeGreaterThan(2);
    else expect(new Set(nonces).size).toBe(nonces.length);
    await stopNow(running.worker);
    running = null;
  }
});

test('settle and claim in one call whose answer was lost: the settlement is sent again, the claim repeated', async () => {
  const backend = scriptedBackend({ both: true, capabilities: { claimReplay: true } });
  let lost = 0;
  backend.script.both = (_settlements, _request, plain) => {
    if (lost++ > 0) return plain();
    return Promise.reject(new Error('reset'));
  };
  running = trial({ backend, concurrency: 1, handlers: [handle(job, () => undefined)] });
  backend.give(...leases(2));
  await running.worker.start();
  await pass(3000);
  const [first, second] = backend.settled;
  expect(second?.lease.id).toBe(first?.lease.id);
  const both = backend.verbs.indexOf('both');
  const replay = backend.claims[backend.verbs.slice(0, both).filter((verb) => verb !== 'settle').length + 1];
  expect(backend.verbs.slice(both, both + 3)).toEqual(['both', 'settle', 'claim']);
  expect(replay?.nonce).toBe(backend.claims[1]?.nonce);
  expect(running.of('attempt').map(({ outcome }) => outcome)).toEqual(['completed', 'completed']);
});

test('the answer of a renewal does not judge what was put on the wire meanwhile', async () => {
  const backend = scriptedBackend();
  const renewal = deferred<readonly RenewOutcome[]>();
  backend.script.renew = () => renewal.promise;
  const lost: string[] = [];
  const keeper = new LeaseKeeper(guardedCalls(backend), backend.capabilities, 3000, 1000, {
    lost: ({ lease: { id } }) => lost.push(id),
    renewed: () => undefined,
    failed: () => undefined,
    recovered: () => undefined,
  });
  const group = keeper.group({ leasedAt: performance.now() });
  const [sent, running] = leases(2).map((each) => new Attempt(each, group, null, performance.now()));
  if (sent === undefined || running === undefined) throw new Error('two leases');
  keeper.add(sent);
  keeper.add(running);
  await pass(1100);
  keeper.tick(performance.now());
  sent.inFlight = true;
  renewal.resolve([{ status: 'lease-lost' }, { status: 'lease-lost' }]);
  await pass(10);
  expect(lost).toEqual([running.lease.id]);
});
