import { type AgeAlert, AgeWatch, defineJob, handle } from '@surety/core';
import type { Count, QueueCounts } from '@surety/core/contract';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { scriptedBackend } from '../support/scripted-backend.ts';
import { pass, stopNow, stopTime, type Trial, trial } from '../support/worker-trial.ts';

const job = defineJob('test.job');
let running: Trial | null = null;

beforeEach(stopTime);
afterEach(async () => {
  if (running !== null) await stopNow(running.worker, { drain: 0, grace: 0 });
  running = null;
  vi.useRealTimers();
});

function counts(oldestReadyAgeMs: Count, ready = 0): QueueCounts {
  const none: Count = { value: 0, kind: 'exact' };
  return {
    ready: { value: ready, kind: 'exact' },
    scheduled: none,
    leased: none,
    dead: none,
    oldestReadyAgeMs,
  };
}

async function alertsFor(looks: readonly (QueueCounts | Error)[]): Promise<AgeAlert[]> {
  const left = [...looks];
  const alerts: AgeAlert[] = [];
  const backend = {
    counts: async () => {
      const next = left.shift();
      if (next instanceof Error || next === undefined) throw next ?? new Error('no more looks');
      return next;
    },
  };
  const watch = new AgeWatch(backend, 1000, (alert) => alerts.push(alert));
  for (const look of looks) await watch.look('mail', 100).catch((error: unknown) => expect(error).toBe(look));
  return alerts;
}

const exact = (value: number | null): Count => ({ value, kind: 'exact' });

test('an alert is raised by age, once, and cleared when the age is well below the limit', async () => {
  const alerts = await alertsFor([500, 1000, 1001, 5000, 950, 899, 1200].map((age) => counts(exact(age))));
  expect(alerts).toEqual([
    { queue: 'mail', state: 'raised', oldestReadyAgeMs: 1001, limitMs: 1000 },
    { queue: 'mail', state: 'cleared', oldestReadyAgeMs: 899, limitMs: 1000 },
    { queue: 'mail', state: 'raised', oldestReadyAgeMs: 1200, limitMs: 1000 },
  ]);
});

test('depth raises nothing, and an empty queue clears', async () => {
  const alerts = await alertsFor([counts(exact(10), 1_000_000), counts(exact(2000), 1), counts(exact(null))]);
  expect(alerts.map(({ state }) => state)).toEqual(['raised', 'cleared']);
});

test('a figure that is not to be had, and a look that fails, change nothing', async () => {
  const none: Count = { value: null, kind: 'none' };
  expect(await alertsFor([counts(none), counts(none, 500)])).toEqual([]);
  const alerts = await alertsFor([counts(exact(2000)), counts(none), new Error('away'), counts(exact(1500))]);
  expect(alerts.map(({ state }) => state)).toEqual(['raised']);
});

test('no older than a bound raises nothing, and a bound below the limit clears', async () => {
  const bound = (value: number | null): Count => ({ value, kind: 'upper-bound' });
  expect(await alertsFor([counts(bound(5000), 10), counts(bound(1_000_000), 10)])).toEqual([]);
  const alerts = await alertsFor([counts(exact(2000)), counts(bound(5000)), counts(bound(500))]);
  expect(alerts.map(({ state, oldestReadyAgeMs }) => [state, oldestReadyAgeMs])).toEqual([
    ['raised', 2000],
    ['cleared', 500],
  ]);
});

test.each(['upper-bound', 'none', 'approximate'] as const)(
  'a worker whose backend tells the age as %s says whether an alert can be raised',
  async (oldestReadyAge) => {
    const backend = scriptedBackend({ capabilities: { oldestReadyAge } });
    running = trial({ backend, alert: { oldestReadyAge: '1m' }, handlers: [handle(job, () => undefined)] });
    await running.worker.start();
    expect(running.of('notice').filter(({ kind }) => kind === 'warning')).toHaveLength(
      oldestReadyAge === 'approximate' ? 0 : 1,
    );
  },
);

test('a worker looks at each of its queues at its interval; one that fails hides no other', async () => {
  const mail = defineJob('mail', { queue: 'mail' });
  const backend = scriptedBackend();
  let looks = 0;
  backend.script.counts = async (queue) => {
    if (queue === 'default') throw new Error('away');
    looks += 1;
    return counts(exact(looks > 2 ? 90_000 : 0));
  };
  running = trial({
    backend,
    alert: { oldestReadyAge: '1m', every: '10s' },
    handlers: [handle(job, () => undefined), handle(mail, () => undefined)],
  });
  await running.worker.start();
  await pass(15_000);
  expect(running.of('age-alert')).toEqual([]);
  await pass(20_000);
  expect(looks).toBe(4);
  expect(running.of('age-alert')).toMatchObject([{ queue: 'mail', state: 'raised', limitMs: 60_000 }]);
  expect(running.of('degraded')).toHaveLength(1);
  await stopNow(running.worker);
  expect(looks).toBe(4);
});

test('counts that never answer do not end the watch', async () => {
  const backend = scriptedBackend();
  let looks = 0;
  backend.script.counts = () =>
    looks++ === 0 ? new Promise(() => undefined) : Promise.resolve(counts(exact(90_000)));
  running = trial({
    backend,
    timeout: '1s',
    alert: { oldestReadyAge: '1m', every: '10s' },
    handlers: [handle(job, () => undefined)],
  });
  await running.worker.start();
  await pass(25_000);
  expect(running.of('age-alert')).toHaveLength(1);
});
