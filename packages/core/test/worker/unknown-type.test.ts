import { createClient, defineJob, handle } from '@surety/core';
import { memory } from '@surety/memory';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lease, scriptedBackend } from '../support/scripted-backend.ts';
import { pass, stopNow, stopTime, type Trial, trial } from '../support/worker-trial.ts';

const known = defineJob('a');
const unknown = defineJob('b');
let running: Trial | null = null;

beforeEach(stopTime);
afterEach(async () => {
  if (running !== null) await stopNow(running.worker, { drain: 0, grace: 0 });
  running = null;
  vi.useRealTimers();
});

test('B048: a type that only the new version knows waits for it, unspent; the old version does not spin', async () => {
  const backend = memory();
  const client = createClient({ backend });
  const done: number[] = [];
  const old = trial({ backend, handlers: [handle(known, () => undefined)] });
  running = trial({
    backend,
    handlers: [
      handle(known, () => undefined),
      handle(unknown, (_input, { attempt }) => {
        done.push(attempt);
      }),
    ],
  });
  await old.worker.start();
  for (let n = 0; n < 50; n += 1) await client.enqueue(unknown, { n });
  await client.enqueue(known, {});
  await pass(33_333);
  expect(old.of('attempt').filter(({ outcome }) => outcome === 'completed')).toHaveLength(1);
  const released = old.of('attempt').filter(({ code }) => code === 'UNKNOWN_TYPE');
  expect(new Set(released.map(({ outcome }) => outcome))).toEqual(new Set(['released']));
  // At 0, 5, 10 and 20 s and a little later each: no job comes more often.
  expect(released.length).toBeLessThanOrEqual(200);
  expect(released.length).toBeGreaterThanOrEqual(150);
  await running.worker.start();
  await pass(900_000);
  expect(done).toEqual(Array.from({ length: 50 }, () => 1));
  expect(old.of('dead')).toEqual([]);
  await client.close();
  await stopNow(old.worker);
});

test.each([
  [null, 5000],
  [1000, 5000],
  [5000, 5000],
  [10_000, 10_000],
  [40_000, 40_000],
  [80_000, 60_000],
  [86_399_999, 60_000],
])(
  'B048: after %s ms of being unknown it is put back for %s ms and a little',
  async (unknownTypeForMs, delayMs) => {
    const backend = scriptedBackend();
    running = trial({ backend, handlers: [handle(known, () => undefined)] });
    backend.give(lease({ type: 'b', unknownTypeForMs }));
    await running.worker.start();
    await pass(100);
    const [settlement] = backend.settled;
    expect(settlement).toMatchObject({ kind: 'release', reason: 'unknown-type' });
    const given = settlement?.kind === 'release' ? settlement.delayMs : 0;
    expect(given).toBeGreaterThanOrEqual(delayMs);
    expect(given).toBeLessThanOrEqual(delayMs * 1.2);
  },
);

test('B048: after a day it is buried, also when the first release is a day old by many short waits', async () => {
  const backend = memory();
  const client = createClient({ backend });
  running = trial({ backend, handlers: [handle(known, () => undefined)] });
  await running.worker.start();
  const { id } = await client.enqueue(unknown, {});
  await pass(86_400_000 - 75_000);
  expect(running.of('dead')).toEqual([]);
  await pass(150_000);
  expect(running.of('dead')).toMatchObject([{ jobId: id, code: 'UNKNOWN_TYPE' }]);
  const dead = await backend.deadLetters.show('default', id, { timeoutMs: 1000 });
  expect(dead).toMatchObject({ reason: 'UNKNOWN_TYPE', interruptions: 0 });
  await client.close();
});
