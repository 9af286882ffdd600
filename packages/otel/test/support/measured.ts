import type { Attributes, Meter } from '@opentelemetry/api';
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';

/** A meter of the official SDK with an exporter in memory that cumulates, as Prometheus wants it. */
export interface Measured extends AsyncDisposable {
  readonly provider: MeterProvider;
  readonly meter: Meter;
  /** Collects once; what the exporter was given, by name. */
  collect(): Promise<Collected>;
}

/** One collection. */
interface Collected {
  readonly metrics: ReadonlyMap<string, MetricData>;
  /** Value (of a histogram its sum and count) of each series whose attributes include the given ones. */
  values(metric: string, attributes?: Attributes): unknown[];
  points(metric: string): readonly DataPoint<number | Histogram>[];
}

const HOUR_MS = 3_600_000;

export function measured(temporality: AggregationTemporality = AggregationTemporality.CUMULATIVE): Measured {
  const exporter = new InMemoryMetricExporter(temporality);
  // Collects when the test says so.
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: HOUR_MS });
  const provider = new MeterProvider({ readers: [reader] });
  return {
    provider,
    meter: provider.getMeter('test'),
    async collect() {
      exporter.reset();
      await reader.forceFlush();
      const exported = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
      return collected(exported.flatMap(({ metrics }) => metrics));
    },
    [Symbol.asyncDispose]: () => provider.shutdown(),
  };
}

function collected(all: readonly MetricData[]): Collected {
  const metrics = new Map(all.map((metric) => [metric.descriptor.name, metric]));
  const points = (metric: string): readonly DataPoint<number | Histogram>[] =>
    // No instrument here aggregates into exponential buckets.
    (metrics.get(metric)?.dataPoints ?? []) as readonly DataPoint<number | Histogram>[];
  return {
    metrics,
    points,
    values: (metric, attributes = {}) =>
      points(metric)
        .filter((point) => includes(point.attributes, attributes))
        .map(({ value }) => (typeof value === 'number' ? value : { sum: value.sum, count: value.count })),
  };
}

function includes(all: Attributes, some: Attributes): boolean {
  return Object.entries(some).every(([name, value]) => all[name] === value);
}

/** Waits until it holds. The limit only ends a test that would never end. */
export async function eventually(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 40_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
