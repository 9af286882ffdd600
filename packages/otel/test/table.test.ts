import { readFileSync } from 'node:fs';
import { DataPointType } from '@opentelemetry/sdk-metrics';
import { memory } from '@surety/memory';
import { ATTRIBUTES, METRICS, type MetricFacts, observeQueues, observeWorker } from '@surety/otel';
import { expect, test } from 'vitest';
import { countingBackend } from './support/counting-backend.ts';
import { measured } from './support/measured.ts';
import { attemptEvent, toldWorker } from './support/told-worker.ts';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

test('the table and what is exported are the same: names, kinds, units, meanings, attributes', async () => {
  await using metrics = measured();
  const worker = toldWorker();
  const counting = countingBackend();
  counting.answer.queues = () => Promise.reject(new Error('once'));
  observeWorker(worker, { meter: metrics.meter });
  await using _queues = observeQueues(counting.backend, { meter: metrics.meter });
  await using _named = observeQueues(memory(), { meter: metrics.meter, queues: ['mail'] });
  for (const outcome of ['completed', 'dead'] as const) {
    const code = outcome === 'dead' ? 'TIMEOUT' : null;
    worker.tell('attempt', attemptEvent({ outcome, code }));
  }
  worker.tell('lease-lost', { ...attemptEvent(), reason: 'gone', loopBlockedMs: 0 });
  // A failure of this read is counted in time for the next collection.
  await metrics.collect();
  const seen = await metrics.collect();

  const exported = [...seen.metrics.values()].map(({ descriptor, dataPointType, dataPoints }) => [
    descriptor.name,
    {
      kind:
        { [DataPointType.SUM]: 'counter', [DataPointType.HISTOGRAM]: 'histogram' }[dataPointType as number] ??
        'gauge',
      unit: descriptor.unit,
      meaning: descriptor.description,
      attributes: [...new Set(dataPoints.flatMap(({ attributes }) => Object.keys(attributes)))].sort(),
    },
  ]);
  const table = Object.entries<MetricFacts>(METRICS).map(([name, { kind, unit, meaning, attributes }]) => [
    name,
    { kind, unit, meaning, attributes: [...attributes].sort() },
  ]);
  expect(Object.fromEntries(exported)).toEqual(Object.fromEntries(table));
});

test('every attribute of the table is used, and both tables are frozen', () => {
  const used = new Set(Object.values<MetricFacts>(METRICS).flatMap(({ attributes }) => attributes));
  expect([...used].sort()).toEqual(Object.keys(ATTRIBUTES).sort());
  expect([METRICS, METRICS['surety.queue.depth'], ATTRIBUTES].every(Object.isFrozen)).toBe(true);
});

test('the page of the docs lists every metric and every attribute', () => {
  const page = read('../../docs/metrics.md');
  for (const [name, { kind, unit, meaning }] of Object.entries<MetricFacts>(METRICS)) {
    expect(page).toContain(`| \`${name}\` | ${kind} | \`${unit}\` |`);
    expect(page).toContain(`| ${meaning} |`);
  }
  for (const [name, { values, meaning }] of Object.entries(ATTRIBUTES))
    expect(page).toContain(`| \`${name}\` | ${values} | ${meaning} |`);
});

test('the instrumentation scope has the name and version of the package', async () => {
  const { name, version } = JSON.parse(read('../package.json')) as Record<string, string>;
  const scopes: unknown[] = [];
  await using metrics = measured();
  const { metrics: api } = await import('@opentelemetry/api');
  api.setGlobalMeterProvider({
    getMeter: (...scope: unknown[]) => {
      scopes.push(scope.slice(0, 2));
      return metrics.meter;
    },
  });
  observeWorker(toldWorker());
  api.disable();
  expect(scopes).toEqual([[name, version]]);
});
