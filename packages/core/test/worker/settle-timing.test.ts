import { createClient, createWorker, defineJob, handle } from '@surety/core';
import { memory } from '@surety/memory';
import { expect, test } from 'vitest';
import { type SettleSituation, settleAt } from '../../src/worker/settle-timing.ts';

const situation: SettleSituation = {
  finished: 10,
  oldestAt: 1000,
  open: 50,
  target: 100,
  calls: 0,
  atOnce: false,
};

test('a batch goes at a quarter of what is in hand, when nothing else can fill it, or 5 ms after its oldest', () => {
  expect(settleAt({ ...situation, finished: 0 })).toBeNull();
  expect(settleAt(situation)).toBe(1005);
  expect(settleAt({ ...situation, finished: 25 })).toBe(0);
  expect(settleAt({ ...situation, open: 0 })).toBe(0);
  expect(settleAt({ ...situation, atOnce: true })).toBe(0);
});

test('a second call goes beside the first only with half of what is in hand, or a quarter when nothing else is left to do; a third never', () => {
  expect(settleAt({ ...situation, calls: 1, finished: 49, open: 1 })).toBeNull();
  expect(settleAt({ ...situation, calls: 1, finished: 50 })).toBe(0);
  expect(settleAt({ ...situation, calls: 1, finished: 24, open: 0 })).toBeNull();
  expect(settleAt({ ...situation, calls: 1, finished: 25, open: 0 })).toBe(0);
  expect(settleAt({ ...situation, calls: 2, finished: 100 })).toBeNull();
});

test('a statement leaves the process while held jobs wait, not after they all have run', async () => {
  const backend = memory();
  const noop = defineJob<number>('noop');
  const client = createClient({ backend });
  const count = 3000;
  await client.enqueueMany(Array.from({ length: count }, (_, input) => ({ job: noop, input })));
  let started = 0;
  let mostBetween = 0;
  const { settleAndClaim } = backend;
  if (settleAndClaim === undefined) throw new Error('The memory backend has the fast path.');
  const late: typeof settleAndClaim = async (settlements, request) => {
    const startedAtSend = started;
    // Where a client library writes to its socket: after the microtasks of the moment.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    mostBetween = Math.max(mostBetween, started - startedAtSend);
    return settleAndClaim(settlements, request);
  };
  const worker = createWorker({
    backend: { ...backend, settleAndClaim: late },
    concurrency: 10,
    log: 'none',
    handlers: [handle(noop, () => void (started += 1))],
  });
  await worker.start();
  await expect.poll(() => started, { timeout: 20_000 }).toBe(count);
  await worker.stop();
  await client.close();
  expect(mostBetween).toBeLessThanOrEqual(10);
});
