import { defineJob, handle } from '@surety/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lease, leases, scriptedBackend } from '../support/scripted-backend.ts';
import { pass, stopNow, stopTime, type Trial, trial } from '../support/worker-trial.ts';

const QUEUES = ['one', 'two', 'three'] as const;
const jobs = QUEUES.map((queue) => defineJob(queue, { queue }));
const job = defineJob('test.job');
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
let running: Trial | null = null;

beforeEach(stopTime);
afterEach(async () => {
  if (running !== null) await stopNow(running.worker, { drain: 0, grace: 0 });
  running = null;
  vi.useRealTimers();
});

/** Starts by queue, with their times. */
function recorded(ms: number): {
  starts: { queue: string; at: number }[];
  handlers: ReturnType<typeof handle>[];
} {
  const starts: { queue: string; at: number }[] = [];
  const handlers = jobs.map((definition) =>
    handle(definition, async (_input, { queue }) => {
      starts.push({ queue, at: performance.now() });
      if (ms > 0) await sleep(ms);
    }),
  );
  return { starts, handlers };
}

function count(starts: readonly { queue: string }[]): number[] {
  return QUEUES.map((queue) => starts.filter((start) => start.queue === queue).length);
}

function fill(
  backend: ReturnType<typeof scriptedBackend>,
  each: number,
  queues: readonly string[] = QUEUES,
): void {
  for (const queue of queues) backend.give(...leases(each, { queue, type: queue }));
}

test.each([
  [1, 1],
  [5, 3],
  [50, 1],
  [50, 3],
  [333, 1],
  [2000, 1],
])(
  'G9.4: at %i a second over %i queues no window has more starts, and the rate is reached',
  async (perSecond, queues) => {
    const backend = scriptedBackend();
    const { starts, handlers } = recorded(0);
    const names = QUEUES.slice(0, queues);
    running = trial({ backend, concurrency: 50, rate: { perSecond }, handlers: handlers.slice(0, queues) });
    fill(backend, perSecond * 12, names);
    await running.worker.start();
    const startedAt = performance.now();
    await pass(10_000);
    const at = starts.map((start) => start.at);
    expect(at.length).toBeGreaterThanOrEqual(perSecond * 10 * 0.9);
    const burst = Math.max(1, perSecond / 10);
    for (let from = 0; from < at.length; from += 1 + Math.floor(perSecond / 50)) {
      for (const window of [10, 100, 1000, 5000]) {
        const began = at[from] ?? 0;
        const inWindow = at.filter((each) => each >= began && each < began + window).length;
        expect(inWindow).toBeLessThanOrEqual(Math.ceil((perSecond * window) / 1000 + burst));
      }
    }
    expect(at.filter((each) => each < startedAt + 1000).length).toBeLessThanOrEqual(perSecond + burst);
    // Nothing was claimed to be put back.
    expect(backend.settled.filter(({ kind }) => kind === 'release')).toEqual([]);
  },
);

test.each([true, false])(
  'G9.4: the rate is reached on a store that answers slowly, if jobs may be held: %s',
  async (claimAhead) => {
    const backend = scriptedBackend();
    const { starts, handlers } = recorded(0);
    running = trial({
      backend,
      concurrency: 50,
      claimAhead,
      rate: { perSecond: 50 },
      handlers: handlers.slice(0, 1),
    });
    const late = async <Answer>(claim: () => Answer): Promise<Answer> => {
      const leasedAt = performance.now();
      await sleep(300);
      const answer = await claim();
      return { ...answer, leasedAt };
    };
    backend.script.claim = (_request, plain) => late(plain);
    backend.script.both = async (_settlements, _request, plain) => {
      const leasedAt = performance.now();
      await sleep(300);
      const { outcomes, claim } = plain();
      return { outcomes, claim: { ...claim, leasedAt } };
    };
    fill(backend, 1000, ['one']);
    await running.worker.start();
    await pass(10_000);
    if (claimAhead) expect(starts.length).toBeGreaterThanOrEqual(50 * 10 * 0.9);
    else expect(starts.length).toBeGreaterThan(0);
    expect(starts.length).toBeLessThanOrEqual(50 * 10 + 5);
    expect(backend.settled.filter(({ kind }) => kind === 'release')).toEqual([]);
  },
);

test('G9.4: suspects keep to the rate too', async () => {
  const backend = scriptedBackend();
  running = trial({ backend, rate: { perSecond: 2 }, handlers: [handle(job, () => undefined)] });
  backend.script.settle = (settlements, plain) => {
    for (const settlement of settlements)
      if (settlement.kind === 'release') setTimeout(() => backend.give(settlement.lease), settlement.delayMs);
    return plain();
  };
  backend.give(...Array.from({ length: 30 }, () => lease({ attempt: 2, lostClaims: 1 })));
  await running.worker.start();
  await pass(5000);
  expect(running.of('started').length).toBeLessThanOrEqual(11);
  expect(running.of('started').length).toBeGreaterThanOrEqual(7);
});

test('a rate that is refused does not skip a queue whose turn it was', async () => {
  const backend = scriptedBackend();
  const { starts, handlers } = recorded(0);
  running = trial({ backend, rate: { perSecond: 20 }, handlers });
  fill(backend, 400);
  await running.worker.start();
  await pass(30_000);
  for (const share of count(starts)) expect(share).toBeGreaterThanOrEqual(180);
});

test.each([
  [true, 1],
  [true, 4],
  [false, 1],
  [false, 4],
])('three full queues share the slots evenly (claimAhead %s, %i slots)', async (claimAhead, concurrency) => {
  for (const both of [false, true]) {
    const backend = scriptedBackend({ both });
    const { starts, handlers } = recorded(50);
    running = trial({ backend, concurrency, claimAhead, handlers });
    fill(backend, 2000);
    await running.worker.start();
    await pass(30_000);
    expect(starts.length).toBeGreaterThanOrEqual(550 * concurrency);
    for (const share of count(starts)) {
      expect(share).toBeGreaterThanOrEqual(starts.length / 3 / 1.2);
      expect(share).toBeLessThanOrEqual((starts.length / 3) * 1.2);
    }
    await stopNow(running.worker);
    running = null;
  }
});

test.each([
  [true, 0],
  [true, 20],
  [false, 20],
])('weights are shares of the starts (claimAhead %s, jobs of %i ms)', async (claimAhead, ms) => {
  const backend = scriptedBackend({ both: true });
  const { starts, handlers } = recorded(ms);
  running = trial({ backend, concurrency: 2, claimAhead, handlers, weights: { one: 4, two: 2, three: 1 } });
  const each = ms === 0 ? 2000 : 1000;
  fill(backend, each);
  await running.worker.start();
  for (let step = 0; step < 500 && starts.length < each; step += 1) await pass(10);
  const [one = 0, two = 0, three = 0] = count(starts.slice(Math.floor(each / 10), each));
  expect(one / three).toBeGreaterThan(4 / 1.35);
  expect(one / three).toBeLessThan(4 * 1.35);
  expect(two / three).toBeGreaterThan(2 / 1.35);
  expect(two / three).toBeLessThan(2 * 1.35);
});

test.each([true, false])(
  'idle queues cost a busy one nothing, and are heard soon (claimAhead %s)',
  async (claimAhead) => {
    const backend = scriptedBackend();
    const { starts, handlers } = recorded(10);
    running = trial({ backend, concurrency: 1, claimAhead, handlers });
    fill(backend, 3000, ['two']);
    await running.worker.start();
    await pass(10_000);
    const alone = starts.length;
    expect(alone).toBeGreaterThanOrEqual(600);
    const at = performance.now();
    fill(backend, 1, ['three']);
    await pass(3000);
    const heard = starts.find(({ queue }) => queue === 'three');
    expect((heard?.at ?? Number.POSITIVE_INFINITY) - at).toBeLessThanOrEqual(2100);
  },
);

test('one slot and many idle queues: a job of any is started within a few seconds', async () => {
  const backend = scriptedBackend({ capabilities: { attempts: 'upper-bound' } });
  const { starts, handlers } = recorded(0);
  running = trial({ backend, concurrency: 1, handlers });
  await running.worker.start();
  for (const queue of [...QUEUES, ...QUEUES]) {
    const before = starts.length;
    fill(backend, 1, [queue]);
    await pass(3100);
    expect(starts.length).toBe(before + 1);
  }
  // And asking them in turn is no loop.
  const claims = backend.claims.length;
  await pass(60_000);
  expect(backend.claims.length - claims).toBeLessThanOrEqual(200);
});
