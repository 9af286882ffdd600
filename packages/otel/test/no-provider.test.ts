import { createNoopMeter, metrics } from '@opentelemetry/api';
import { observeQueues, observeWorker } from '@surety/otel';
import { afterEach, expect, test } from 'vitest';
import { countingBackend } from './support/counting-backend.ts';
import { measured } from './support/measured.ts';
import { attemptEvent, toldWorker } from './support/told-worker.ts';

afterEach(() => metrics.disable());

const NOTHING = { open: 0, close: 0, queues: 0, counts: 0 };

test.each([
  ['no provider', undefined],
  ['a meter that does nothing', createNoopMeter()],
])('with %s there is no listener, no read and no open backend', async (_name, meter) => {
  const worker = toldWorker();
  const counting = countingBackend();
  const options = meter === undefined ? {} : { meter };
  const observed = [observeWorker(worker, options), observeQueues(counting.backend, options)];
  expect(observed.map(({ active }) => active)).toEqual([false, false]);
  expect(worker.listeners()).toBe(0);
  for (const each of observed) await each.stop();
  expect(counting.calls).toEqual(NOTHING);
});

test('with a provider, nothing is read or opened until metrics are collected', async () => {
  await using collecting = measured();
  metrics.setGlobalMeterProvider(collecting.provider);
  const worker = toldWorker();
  const counting = countingBackend();
  const ofWorker = observeWorker(worker);
  const ofQueues = observeQueues(counting.backend, { queues: ['mail'] });
  expect([ofWorker.active, ofQueues.active]).toEqual([true, true]);
  expect(worker.listeners()).toBe(2);
  expect(counting.calls).toEqual(NOTHING);
  worker.tell('attempt', attemptEvent());
  const seen = await collecting.collect();
  expect(counting.calls).toEqual({ ...NOTHING, open: 1, counts: 1 });
  expect(seen.values('surety.job.attempts')).toEqual([1]);
  await ofWorker.stop();
  await ofQueues.stop();
});

test('a provider that comes later is not noticed, and options are checked all the same', async () => {
  const worker = toldWorker();
  const observed = observeWorker(worker);
  await using late = measured();
  metrics.setGlobalMeterProvider(late.provider);
  expect(observed.active).toBe(false);
  expect(worker.listeners()).toBe(0);
  const invalid = expect.objectContaining({ code: 'OPTIONS_INVALID' });
  const { backend } = countingBackend();
  expect(() => observeWorker(worker, { metre: 1 } as object)).toThrow(invalid);
  expect(() => observeWorker(worker, { limits: { types: 0 } })).toThrow(invalid);
  expect(() => observeWorker(worker, { limits: { jobs: 1 } as object })).toThrow(invalid);
  expect(() => observeWorker(worker, null as unknown as object)).toThrow(invalid);
  expect(() => observeQueues(backend, { queues: ['Not A Queue'] })).toThrow(invalid);
  expect(() => observeQueues(backend, { queues: 'mail' as unknown as string[] })).toThrow(invalid);
  expect(() => observeQueues(backend, { intervalMs: -1 })).toThrow(invalid);
  expect(() => observeQueues(backend, { timeoutMs: 0.5 })).toThrow(invalid);
});
