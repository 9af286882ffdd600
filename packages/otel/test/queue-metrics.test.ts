import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { createClient, createWorker, defineJob, handle } from '@surety/core';
import type { CountKind } from '@surety/core/contract';
import { memory } from '@surety/memory';
import { createTestKit } from '@surety/memory/testing';
import { observeQueues } from '@surety/otel';
import { expect, test } from 'vitest';
import { countingBackend, countsOf } from './support/counting-backend.ts';
import { eventually, measured } from './support/measured.ts';

const MAIL = { 'messaging.destination.name': 'mail', 'surety.figure.kind': 'exact' };
const ready = (queue: string): Record<string, string> => ({
  'messaging.destination.name': queue,
  'surety.job.state': 'ready',
});
const AGE = 'surety.queue.oldest_ready_age';
const job = defineJob('test.job', { queue: 'mail' });

test('depth, age, leased jobs and dead letters follow the store and its clock', async () => {
  const bad = defineJob('bad', { queue: 'mail', retry: { maxAttempts: 1 } });
  const failing = handle(bad, () => {
    throw new Error('no');
  });
  await using kit = createTestKit({ handlers: [failing] });
  await using metrics = measured();
  await using _observed = observeQueues(kit.backend, { meter: metrics.meter, intervalMs: 0 });

  await kit.client.enqueue(bad, {});
  await kit.drain();
  await kit.client.enqueue(job, {});
  await kit.advance('90s');
  await kit.client.enqueue(job, {});
  await kit.client.enqueue(job, {}, { delay: '1h' });

  let seen = await metrics.collect();
  expect(seen.values('surety.queue.depth', { ...MAIL, 'surety.job.state': 'ready' })).toEqual([2]);
  expect(seen.values('surety.queue.depth', { ...MAIL, 'surety.job.state': 'scheduled' })).toEqual([1]);
  expect(seen.values(AGE, MAIL)).toEqual([90]);
  expect(seen.values('surety.queue.dead_letters', MAIL)).toEqual([1]);
  expect(seen.values('surety.queue.leased', MAIL)).toEqual([0]);

  const claimed = await kit.backend.claim({
    queue: 'mail',
    max: 2,
    leaseMs: 7_200_000,
    waitMs: 0,
    timeoutMs: 1000,
    nonce: crypto.randomUUID(),
    signal: null,
  });
  expect(claimed.leases).toHaveLength(2);
  // The scheduled job becomes due, and its age begins then, not with its enqueue.
  await kit.advance('61m');
  seen = await metrics.collect();
  expect(seen.values('surety.queue.leased', MAIL)).toEqual([2]);
  expect(seen.values('surety.queue.depth', { ...MAIL, 'surety.job.state': 'ready' })).toEqual([1]);
  expect(seen.values('surety.queue.depth', { ...MAIL, 'surety.job.state': 'scheduled' })).toEqual([0]);
  expect(seen.values(AGE, MAIL)).toEqual([60]);
});

test('a queue that ran empty is listed no more, and is still told as empty', async () => {
  const backend = memory();
  await using metrics = measured();
  await using _observed = observeQueues(backend, { meter: metrics.meter, intervalMs: 0 });
  await using client = createClient({ backend });
  await client.enqueue(job, {});
  expect((await metrics.collect()).values('surety.queue.depth', ready('mail'))).toEqual([1]);
  await using worker = createWorker({ backend, log: 'none', handlers: [handle(job, () => undefined)] });
  await worker.start();
  await eventually(async () => (await backend.queues({ timeoutMs: 1000 })).length === 0, 'the queue is gone');
  const seen = await metrics.collect();
  expect(seen.values('surety.queue.depth', ready('mail'))).toEqual([0]);
  expect(seen.values(AGE, MAIL)).toEqual([0]);
});

test('named queues are read, others are not, and a queue that never saw a job counts zero', async () => {
  const counting = countingBackend();
  await using client = createClient({ backend: counting.backend });
  await client.enqueue(job, {});
  await using metrics = measured();
  await using _observed = observeQueues(counting.backend, { meter: metrics.meter, queues: ['later'] });
  const seen = await metrics.collect();
  expect(seen.values('surety.queue.depth', ready('later'))).toEqual([0]);
  expect(seen.values('surety.queue.depth', ready('mail'))).toEqual([]);
  expect(counting.calls.queues).toBe(0);
});

test('every kind of figure is named; what is not to be had is not reported', async () => {
  const counting = countingBackend();
  const of = (value: number | null, kind: CountKind) => ({ value, kind });
  counting.answer.counts = async () =>
    countsOf({
      ready: of(7, 'approximate'),
      scheduled: of(8, 'upper-bound'),
      leased: of(9, 'lower-bound'),
      dead: of(null, 'none'),
      oldestReadyAgeMs: of(null, 'none'),
    });
  await using metrics = measured();
  await using _observed = observeQueues(counting.backend, { meter: metrics.meter, queues: ['mail'] });
  const seen = await metrics.collect();
  const kind = (name: string): [unknown, unknown][] =>
    seen.points(name).map(({ value, attributes }) => [value, attributes['surety.figure.kind']]);
  expect(kind('surety.queue.depth')).toEqual([
    [7, 'approximate'],
    [8, 'upper-bound'],
  ]);
  expect(kind('surety.queue.leased')).toEqual([[9, 'lower-bound']]);
  expect(seen.points('surety.queue.dead_letters')).toEqual([]);
  expect(seen.points(AGE)).toEqual([]);
});

test('a backend that moves jobs by copies tells what it can', async () => {
  const backend = memory({ profile: 'weak' });
  await using client = createClient({ backend });
  await client.enqueue(job, {});
  await using metrics = measured();
  await using _observed = observeQueues(backend, { meter: metrics.meter });
  const seen = await metrics.collect();
  const { counts, oldestReadyAge } = backend.capabilities;
  expect(counts.ready).toBe('approximate');
  expect(seen.values('surety.queue.depth', { ...ready('mail'), 'surety.figure.kind': counts.ready })).toEqual(
    [1],
  );
  expect(oldestReadyAge).toBe('none');
  expect(seen.points(AGE)).toEqual([]);
});

test('one collection is one read, for all gauges', async () => {
  const counting = countingBackend();
  await using metrics = measured();
  await using _observed = observeQueues(counting.backend, {
    meter: metrics.meter,
    queues: ['a', 'b'],
    intervalMs: 0,
  });
  expect(counting.calls).toEqual({ open: 0, close: 0, queues: 0, counts: 0 });
  await metrics.collect();
  expect(counting.calls.counts).toBe(2);
  await metrics.collect();
  expect(counting.calls.counts).toBe(4);
});

test('two exporters that collect at the same time share one read', async () => {
  const counting = countingBackend();
  const gate = Promise.withResolvers<void>();
  counting.answer.counts = () => gate.promise.then(() => countsOf());
  const exporters = [0, 1].map(() => new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE));
  const readers = exporters.map(
    (exporter) => new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 }),
  );
  const provider = new MeterProvider({ readers });
  const meter = provider.getMeter('test');
  const observed = observeQueues(counting.backend, { meter, queues: ['a'], intervalMs: 0 });
  const both = readers.map((reader) => reader.forceFlush());
  await eventually(() => counting.calls.counts > 0, 'the read has begun');
  gate.resolve();
  await Promise.all(both);
  expect(counting.calls.counts).toBe(1);
  for (const exporter of exporters) {
    const names = exporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics)
      .flatMap(({ metrics }) => metrics)
      .map(({ descriptor }) => descriptor.name);
    expect(names).toContain(AGE);
  }
  await observed.stop();
  await provider.shutdown();
});

test('within the interval a collection is answered from the last read', async () => {
  const counting = countingBackend();
  await using metrics = measured();
  await using _observed = observeQueues(counting.backend, {
    meter: metrics.meter,
    queues: ['a'],
    intervalMs: 3_600_000,
  });
  await metrics.collect();
  const seen = await metrics.collect();
  expect(counting.calls.counts).toBe(1);
  expect(seen.values('surety.queue.depth', ready('a'))).toEqual([0]);
});

test('many queues are read a few at a time', async () => {
  const counting = countingBackend();
  let underWay = 0;
  let most = 0;
  counting.answer.queues = async () => Array.from({ length: 40 }, (_, index) => `queue-${index}`);
  counting.answer.counts = async () => {
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay -= 1;
    return countsOf();
  };
  await using metrics = measured();
  await using _observed = observeQueues(counting.backend, { meter: metrics.meter });
  const seen = await metrics.collect();
  expect(seen.points('surety.queue.leased')).toHaveLength(40);
  expect(most).toBe(4);
});

test('two backends are told apart by attributes of their own', async () => {
  await using metrics = measured();
  const backends = { a: memory(), b: memory() };
  await using client = createClient({ backend: backends.b });
  await client.enqueue(job, {});
  const options = { meter: metrics.meter, queues: ['mail'] };
  await using _one = observeQueues(backends.a, { ...options, attributes: { store: 'a' } });
  await using _two = observeQueues(backends.b, { ...options, attributes: { store: 'b' } });
  const seen = await metrics.collect();
  expect(seen.values('surety.queue.depth', { ...ready('mail'), store: 'a' })).toEqual([0]);
  expect(seen.values('surety.queue.depth', { ...ready('mail'), store: 'b' })).toEqual([1]);
});

test('an exporter that asks for deltas gets the figures as well', async () => {
  const counting = countingBackend();
  await using metrics = measured(AggregationTemporality.DELTA);
  await using _observed = observeQueues(counting.backend, {
    meter: metrics.meter,
    queues: ['a'],
    intervalMs: 0,
  });
  counting.answer.counts = async () => countsOf({ ready: { value: 5, kind: 'exact' } });
  expect((await metrics.collect()).values('surety.queue.depth', ready('a'))).toEqual([5]);
  expect((await metrics.collect()).values('surety.queue.depth', ready('a'))).toEqual([5]);
});
