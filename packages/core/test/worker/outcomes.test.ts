import { createClient, defineJob, handle, PermanentError } from '@surety/core';
import type { Lease } from '@surety/core/contract';
import { memory } from '@surety/memory';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lease, leases, scriptedBackend } from '../support/scripted-backend.ts';
import { pass, stopNow, stopTime, type Trial, trial } from '../support/worker-trial.ts';

const job = defineJob('test.job', { timeout: '1s', retry: { maxAttempts: 3, base: '1s', cap: '10s' } });
const checked = defineJob('test.checked', {
  input: {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      validate: (value: unknown) =>
        typeof (value as { n?: unknown }).n === 'number'
          ? { value: (value as { n: number }).n * 2 }
          : { issues: [{ message: 'n must be a number', path: ['n'] }] },
    },
  },
});
let running: Trial | null = null;

beforeEach(stopTime);
afterEach(async () => {
  if (running !== null) await stopNow(running.worker, { drain: 0, grace: 0 });
  running = null;
  vi.useRealTimers();
});

async function settledBy(run: Parameters<typeof handle<unknown, unknown>>[1], facts: Partial<Lease> = {}) {
  const backend = scriptedBackend();
  const deaths: unknown[] = [];
  running = trial({ backend, grace: 0, handlers: [handle(job, run)], onDead: (event) => deaths.push(event) });
  backend.give(lease(facts));
  await running.worker.start();
  await pass(2000);
  expect(running.of('dead')).toEqual(deaths);
  expect(running.of('attempt')).toHaveLength(1);
  return {
    settlement: backend.settled[0],
    count: backend.settled.length,
    event: running.of('attempt')[0],
    deaths,
  };
}

test('a return is success, whatever is returned', async () => {
  const { settlement, event } = await settledBy(() => ({ kind: 'bury', reason: 'only looks like one' }));
  expect(settlement).toMatchObject({ kind: 'complete', outcome: 'completed' });
  expect(event).toMatchObject({ outcome: 'completed', errorClass: null, code: null, message: null });
});

test('snooze is a release with its delay, refunded', async () => {
  const { settlement, event } = await settledBy((_input, context) => context.snooze('2h'));
  expect(settlement).toMatchObject({ kind: 'release', reason: 'snooze', delayMs: 7_200_000 });
  expect(event?.outcome).toBe('snoozed');
});

test('snooze also on the last attempt is no death', async () => {
  const { settlement, deaths } = await settledBy((_input, context) => context.snooze(10), { attempt: 3 });
  expect(settlement?.kind).toBe('release');
  expect(deaths).toEqual([]);
});

test('cancel ends without a dead letter and tells its reason', async () => {
  const { settlement, event, deaths } = await settledBy((_input, context) => context.cancel('not needed'));
  expect(settlement).toMatchObject({ kind: 'complete', outcome: 'cancelled' });
  expect(event).toMatchObject({ outcome: 'cancelled', code: null, message: 'not needed' });
  expect(deaths).toEqual([]);
});

test('bury and PermanentError bury at once', async () => {
  const buried = await settledBy((_input, context) => context.bury('broken for good'));
  expect(buried.settlement).toMatchObject({
    kind: 'bury',
    error: { code: 'BURIED', message: 'broken for good' },
  });
  expect(buried.deaths).toHaveLength(1);
  if (running) await stopNow(running.worker);
  const permanent = await settledBy(() => {
    throw new PermanentError('no way');
  });
  expect(permanent.settlement).toMatchObject({
    kind: 'bury',
    error: { code: 'PERMANENT_FAILURE', message: 'no way' },
  });
});

test('a throw is a retry after min(base * 2^attempt, cap), jittered from 0.5 to 1.5', async () => {
  const { settlement, event } = await settledBy(
    () => {
      throw new TypeError('x is undefined');
    },
    { attempt: 2 },
  );
  expect(settlement).toMatchObject({
    kind: 'retry',
    error: { code: 'HANDLER_FAILED', name: 'TypeError', attempt: 2 },
  });
  const delayMs = settlement?.kind === 'retry' ? settlement.delayMs : 0;
  expect(delayMs).toBeGreaterThanOrEqual(2000);
  expect(delayMs).toBeLessThanOrEqual(6000);
  expect(event).toMatchObject({ outcome: 'retried', errorClass: 'TypeError', message: 'x is undefined' });
});

test.each([
  ['the definition', null, 3],
  ['the enqueue, lower', 1, 1],
  ['the enqueue, higher', 5, 5],
])('the limit of %s holds', async (_name, maxAttempts, limit) => {
  const fail = (): never => {
    throw new Error('again');
  };
  const before = await settledBy(fail, { maxAttempts, attempt: limit });
  expect(before.settlement?.kind).toBe('bury');
  if (running) await stopNow(running.worker);
  if (limit > 1)
    expect((await settledBy(fail, { maxAttempts, attempt: limit - 1 })).settlement?.kind).toBe('retry');
});

test('G4.5: never more starts than the limit, and the context tells the last', async () => {
  const backend = memory();
  const client = createClient({ backend });
  const seen: [number, number, boolean][] = [];
  const failing = defineJob('test.failing', { retry: { maxAttempts: 4, base: 10, cap: 10 } });
  running = trial({
    backend,
    handlers: [
      handle(failing, (_input, { attempt, maxAttempts, lastAttempt }) => {
        seen.push([attempt, maxAttempts, lastAttempt]);
        throw new Error('again');
      }),
    ],
  });
  await running.worker.start();
  await client.enqueue(failing, {});
  await client.enqueue(failing, {}, { maxAttempts: 2 });
  await pass(60_000);
  expect(seen.filter(([, max]) => max === 4)).toEqual([
    [1, 4, false],
    [2, 4, false],
    [3, 4, false],
    [4, 4, true],
  ]);
  expect(seen.filter(([, max]) => max === 2)).toEqual([
    [1, 2, false],
    [2, 2, true],
  ]);
  const { entries } = await backend.deadLetters.list(
    { queue: 'default', limit: 10, cursor: null, type: null },
    { timeoutMs: 1000 },
  );
  expect(entries.map(({ attempt }) => attempt).sort((a, b) => a - b)).toEqual([2, 4]);
  expect(running.of('dead')).toHaveLength(2);
  await client.close();
});

test('the handler gets the output of the schema; what does not fit is buried', async () => {
  const backend = scriptedBackend();
  const got: unknown[] = [];
  running = trial({ backend, concurrency: 1, handlers: [handle(checked, (input) => got.push(input))] });
  backend.give(
    lease({ type: 'test.checked', payload: { value: { n: 21 } } }),
    lease({ type: 'test.checked', payload: { value: { n: 'x' } } }),
  );
  await running.worker.start();
  await pass(100);
  expect(got).toEqual([42]);
  expect(backend.settled).toMatchObject([
    { kind: 'complete' },
    {
      kind: 'bury',
      error: { code: 'PAYLOAD_INVALID', message: expect.stringContaining('n: n must be a number') },
    },
  ]);
});

const ROADS: [string, Partial<Lease>, string][] = [
  ['handler throws', { attempt: 3, payload: { value: 'throw' } }, 'HANDLER_FAILED'],
  ['permanent error', { payload: { value: 'permanent' } }, 'PERMANENT_FAILURE'],
  ['bury', { payload: { value: 'bury' } }, 'BURIED'],
  ['timeout', { attempt: 3, payload: { value: 'hang' } }, 'TIMEOUT'],
  ['worker lost', { attempt: 4, lostClaims: 3 }, 'WORKER_LOST'],
  ['unknown type', { type: 'test.unknown', unknownTypeForMs: 86_400_000 }, 'UNKNOWN_TYPE'],
  ['unreadable payload', { payload: { unreadable: 'Unexpected end' } }, 'PAYLOAD_CORRUPT'],
  ['misfit payload', { type: 'test.checked', payload: { value: {} } }, 'PAYLOAD_INVALID'],
  ['expired', { expiresInMs: 0 }, 'EXPIRED'],
  ['interrupted too often', { interruptions: 100 }, 'INTERRUPTED_TOO_OFTEN'],
];

test.each(ROADS)(
  'B067: the road to dead by "%s" has one bury, one dead event, one onDead call',
  async (_name, facts, code) => {
    const backend = scriptedBackend();
    const deaths: unknown[] = [];
    running = trial({
      backend,
      grace: 0,
      onDead: (event) => deaths.push(event),
      handlers: [
        handle(job, (input, context) => {
          if (input === 'throw') throw new Error('x');
          if (input === 'permanent') throw new PermanentError('x');
          if (input === 'bury') return context.bury('x');
          return input === 'hang' ? new Promise(() => undefined) : undefined;
        }),
        handle(checked, () => undefined),
      ],
    });
    const given = lease(facts);
    backend.give(given, ...leases(3));
    await running.worker.start();
    await pass(5000);
    const mine = backend.settled.filter(({ lease: { id } }) => id === given.id);
    expect(mine).toMatchObject([{ kind: 'bury', error: { code } }]);
    expect(running.of('dead')).toMatchObject([{ jobId: given.id, code, outcome: 'dead' }]);
    expect(deaths).toEqual(running.of('dead'));
    expect(backend.settled.filter(({ kind }) => kind === 'complete')).toHaveLength(3);
  },
);

test('B067: a bury whose answer was lost and that then settles gives one death', async () => {
  const backend = scriptedBackend();
  let calls = 0;
  backend.script.settle = (_settlements, plain) =>
    calls++ === 0 ? Promise.reject(new Error('reset')) : plain();
  running = trial({ backend, handlers: [handle(job, (_input, context) => context.bury('x'))] });
  backend.give(lease());
  await running.worker.start();
  await pass(2000);
  expect(backend.settled).toHaveLength(2);
  expect(running.of('dead')).toHaveLength(1);
});
