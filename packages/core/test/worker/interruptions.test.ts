import { createClient, defineJob, handle } from '@surety/core';
import { memory } from '@surety/memory';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lease, scriptedBackend } from '../support/scripted-backend.ts';
import { pass, stopNow, stopTime, type Trial, trial } from '../support/worker-trial.ts';

const job = defineJob('test.job', { retry: { maxAttempts: 3 } });
let running: Trial | null = null;

beforeEach(stopTime);
afterEach(async () => {
  if (running !== null) await stopNow(running.worker, { drain: 0, grace: 0 });
  running = null;
  vi.useRealTimers();
});

test('B039: five orderly stops burn no attempt and are counted apart', async () => {
  const backend = memory();
  const client = createClient({ backend });
  const { id } = await client.enqueue(job, {});
  const attempts: number[] = [];
  const handlers = [
    handle(job, (_input, { attempt }) => {
      attempts.push(attempt);
      return new Promise(() => undefined);
    }),
  ];
  for (let deploy = 0; deploy < 5; deploy += 1) {
    running = trial({ backend, handlers });
    await running.worker.start();
    await pass(1000);
    const stopped = running.worker.stop({ drain: 100, grace: 200 });
    await pass(5000);
    expect(await stopped).toEqual({ finished: 0, released: 1, abandoned: 0 });
    expect(running.of('attempt')).toMatchObject([{ outcome: 'released' }]);
  }
  expect(attempts).toEqual([1, 1, 1, 1, 1]);
  const view = await backend.lookup?.find('default', id, { timeoutMs: 1000 });
  expect(view).toMatchObject({ state: 'ready', attempt: 0, interruptions: 5, lostClaims: 0, deliveries: 5 });
  await client.close();
});

test('past a hundred interruptions it is dead as interrupted too often', async () => {
  const backend = scriptedBackend();
  running = trial({ backend, handlers: [handle(job, () => undefined)] });
  backend.give(lease({ interruptions: 99 }), lease({ interruptions: 100 }));
  await running.worker.start();
  await pass(100);
  expect(backend.settled.map(({ kind }) => kind).sort()).toEqual(['bury', 'complete']);
  expect(running.of('dead')).toMatchObject([{ code: 'INTERRUPTED_TOO_OFTEN' }]);
});

test.each([
  ['throws', 'throw', { kind: 'release', reason: 'stop', delayMs: 0 }],
  ['returns', 'return', { kind: 'complete', outcome: 'completed' }],
  ['snoozes', 'snooze', { kind: 'release', reason: 'snooze', delayMs: 1000 }],
  ['buries', 'bury', { kind: 'bury', error: { code: 'BURIED' } }],
])('a handler that %s after the shutdown abort is settled so', async (_name, how, settlement) => {
  const backend = scriptedBackend();
  running = trial({
    backend,
    handlers: [
      handle(job, async (_input, context) => {
        await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
        expect(context.signal.reason).toMatchObject({ kind: 'shutdown' });
        if (how === 'throw') throw context.signal.reason;
        if (how === 'snooze') return context.snooze('1s');
        return how === 'bury' ? context.bury('x') : undefined;
      }),
    ],
  });
  backend.give(lease({ attempt: 3 }));
  await running.worker.start();
  await pass(100);
  const stopped = running.worker.stop({ drain: 500 });
  await pass(400);
  expect(backend.settled).toEqual([]);
  await pass(1000);
  await stopped;
  expect(backend.settled).toMatchObject([settlement]);
});

test('a throw before the abort, while the worker drains, is a failure like any other', async () => {
  const backend = scriptedBackend();
  running = trial({
    backend,
    handlers: [
      handle(job, async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        throw new Error('x');
      }),
    ],
  });
  backend.give(lease());
  await running.worker.start();
  await pass(100);
  const stopped = running.worker.stop();
  await pass(1000);
  expect(await stopped).toEqual({ finished: 1, released: 0, abandoned: 0 });
  expect(backend.settled).toMatchObject([{ kind: 'retry' }]);
});
