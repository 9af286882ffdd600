import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import { createClient, defineJob } from '@surety/core';
import { createMemoryStore, memory } from '@surety/memory';
import { observeQueues } from '@surety/otel';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { countingBackend, countsOf } from './support/counting-backend.ts';
import { eventually, measured } from './support/measured.ts';

const FAILURES = 'surety.queue.read.failures';
const AGE = 'surety.queue.oldest_ready_age';
const READY = { 'surety.job.state': 'ready' };
const job = defineJob('test.job', { queue: 'mail' });

const told: string[] = [];
const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);

beforeEach(() => {
  told.length = 0;
  const say =
    (level: string) =>
    (message: string): void =>
      void told.push(`${level}: ${message}`);
  const logger: DiagLogger = {
    error: say('error'),
    warn: say('warn'),
    info: say('info'),
    debug: () => undefined,
    verbose: () => undefined,
  };
  diag.setLogger(logger, { logLevel: DiagLogLevel.INFO, suppressOverrideMessage: true });
  told.length = 0;
  process.on('unhandledRejection', note);
});

afterEach(async () => {
  // A rejection that nobody handles is told after the turn in which it happened.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  diag.disable();
  expect(unhandled.splice(0)).toEqual([]);
});

test('while the store is away nothing old is repeated, and its return is noticed', async () => {
  const store = createMemoryStore();
  const backend = memory({ store });
  await using client = createClient({ backend });
  await client.enqueue(job, {});
  await using metrics = measured();
  await using _observed = observeQueues(backend, { meter: metrics.meter, intervalMs: 0 });
  let seen = await metrics.collect();
  expect(seen.values('surety.queue.depth', READY)).toEqual([1]);
  expect(seen.values(FAILURES)).toEqual([]);

  store.faults.refuse('refused');
  seen = await metrics.collect();
  // The SDK repeats what is not observed: NaN is what ends a series that was reported.
  expect(seen.values('surety.queue.depth')).toEqual([Number.NaN, Number.NaN]);
  expect(seen.values(AGE)).toEqual([Number.NaN]);
  expect(seen.values(FAILURES, { 'error.type': 'BACKEND_UNAVAILABLE' }).length).toBeGreaterThan(0);
  await metrics.collect();
  expect(told.filter((line) => line.startsWith('warn'))).toHaveLength(1);
  expect(told[0]).toMatch(/^warn: @surety\/otel: (queues|counts|open) failed: /);

  store.faults.refuse(null);
  seen = await metrics.collect();
  expect(seen.values('surety.queue.depth', READY)).toEqual([1]);
  expect(told.at(-1)).toBe('info: @surety/otel: the queues can be read again.');
});

test('a store that is away from the start is opened once it is there', async () => {
  const store = createMemoryStore();
  store.faults.refuse('refused');
  await using metrics = measured();
  await using _observed = observeQueues(memory({ store }), {
    meter: metrics.meter,
    intervalMs: 0,
    queues: ['mail'],
  });
  let seen = await metrics.collect();
  expect(seen.points('surety.queue.depth')).toEqual([]);
  expect(seen.values(FAILURES, { 'messaging.operation.name': 'open' })).toEqual([1]);
  store.faults.refuse(null);
  seen = await metrics.collect();
  expect(seen.values('surety.queue.depth', READY)).toEqual([0]);
});

test('a store that freezes ends the read at its deadline', async () => {
  const store = createMemoryStore();
  await using metrics = measured();
  await using _observed = observeQueues(memory({ store }), {
    meter: metrics.meter,
    intervalMs: 0,
    timeoutMs: 1000,
    queues: ['mail'],
  });
  await metrics.collect();
  store.faults.refuse('frozen');
  const seen = await metrics.collect();
  expect(seen.values('surety.queue.depth', READY)).toEqual([Number.NaN]);
  expect(seen.values(FAILURES, { 'error.type': 'BACKEND_TIMEOUT' })).toEqual([1]);
  store.faults.refuse(null);
});

test('an adapter that never answers ends at the deadline too; after it nothing more is asked', async () => {
  const counting = countingBackend();
  const answers: PromiseWithResolvers<never>[] = [];
  counting.answer.counts = () => {
    const answer = Promise.withResolvers<never>();
    answers.push(answer);
    return answer.promise;
  };
  await using metrics = measured();
  const queues = Array.from({ length: 20 }, (_, index) => `queue-${index}`);
  await using _observed = observeQueues(counting.backend, { meter: metrics.meter, queues, timeoutMs: 50 });
  const seen = await metrics.collect();
  // Four at most were under way; the others were not begun.
  expect(counting.calls.counts).toBeLessThanOrEqual(4);
  expect(
    seen.values(FAILURES, { 'messaging.operation.name': 'counts', 'error.type': 'BACKEND_TIMEOUT' }),
  ).toEqual([20]);
  // What comes too late harms nobody.
  for (const answer of answers) answer.reject(new Error('too late'));
});

test('one queue that cannot be read hides no other, and a native error is no riddle', async () => {
  const counting = countingBackend();
  counting.answer.counts = (queue) => {
    if (queue === 'bad') throw new RangeError('broken');
    return Promise.resolve(countsOf({ ready: { value: 3, kind: 'exact' } }));
  };
  await using metrics = measured();
  await using _observed = observeQueues(counting.backend, {
    meter: metrics.meter,
    queues: ['bad', 'good', 'fine'],
  });
  const seen = await metrics.collect();
  expect(seen.values('surety.queue.depth', READY)).toEqual([3, 3]);
  expect(seen.values(FAILURES, { 'error.type': 'INTERNAL' })).toEqual([1]);
});

test('queues that cannot be listed any more are read as they are known', async () => {
  const counting = countingBackend();
  counting.answer.queues = async () => ['mail'];
  await using metrics = measured();
  await using _observed = observeQueues(counting.backend, { meter: metrics.meter, intervalMs: 0 });
  await metrics.collect();
  counting.answer.queues = () => Promise.reject(new Error('not allowed'));
  const seen = await metrics.collect();
  expect(seen.values('surety.queue.depth', READY)).toEqual([0]);
  expect(seen.values(FAILURES, { 'messaging.operation.name': 'queues' })).toEqual([1]);
});

test('after a stop nothing is read, nothing old is repeated, and the backend is let go', async () => {
  const counting = countingBackend();
  counting.answer.counts = async () => countsOf({ ready: { value: 3, kind: 'exact' } });
  await using metrics = measured();
  const observed = observeQueues(counting.backend, {
    meter: metrics.meter,
    intervalMs: 0,
    queues: ['mail'],
  });
  expect((await metrics.collect()).values('surety.queue.depth', READY)).toEqual([3]);
  const leave = vi.spyOn(metrics.meter, 'removeBatchObservableCallback');
  await observed.stop();
  await observed.stop();
  expect(counting.calls).toEqual({ open: 1, close: 1, queues: 0, counts: 1 });
  expect((await metrics.collect()).values('surety.queue.depth', READY)).toEqual([Number.NaN]);
  await metrics.collect();
  expect(counting.calls.counts).toBe(1);
  expect(leave).toHaveBeenCalledTimes(1);

  // A new observation takes over the same series.
  await using _again = observeQueues(counting.backend, {
    meter: metrics.meter,
    intervalMs: 0,
    queues: ['mail'],
  });
  expect((await metrics.collect()).values('surety.queue.depth', READY)).toEqual([3]);
});

test('a stop in the middle of a read ends, and is no failure', async () => {
  const counting = countingBackend();
  counting.answer.counts = () => new Promise(() => undefined);
  await using metrics = measured();
  const observed = observeQueues(counting.backend, {
    meter: metrics.meter,
    queues: ['mail'],
    timeoutMs: 200,
  });
  const collecting = metrics.collect();
  await eventually(() => counting.calls.counts === 1, 'the read has begun');
  await observed.stop();
  const seen = await collecting;
  expect(seen.points('surety.queue.depth')).toEqual([]);
  expect(seen.values(FAILURES)).toEqual([]);
  expect(told).toEqual([]);
});
