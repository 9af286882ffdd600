import {
  type Counter,
  createNoopMeter,
  type Histogram,
  type Meter,
  metrics,
  type Observable,
} from '@opentelemetry/api';
import { type CounterName, type GaugeName, type HistogramName, METRICS } from './metric-table.ts';

/** Instrumentation scope: the name and version of this package. */
export const SCOPE: { readonly name: string; readonly version: string } = Object.freeze({
  name: '@surety/otel',
  version: '0.1.0',
});

/** The given meter, or that of the global provider; null where nobody would see a measurement: then none is made. */
export function meterInUse(given: Meter | undefined): Meter | null {
  const meter = given ?? metrics.getMeter(SCOPE.name, SCOPE.version);
  return meter === createNoopMeter() ? null : meter;
}

export function counter(meter: Meter, name: CounterName): Counter {
  const { unit, meaning } = METRICS[name];
  return meter.createCounter(name, { unit, description: meaning });
}

export function histogram(meter: Meter, name: HistogramName): Histogram {
  const { unit, meaning, boundaries } = METRICS[name];
  const advice = { explicitBucketBoundaries: [...(boundaries ?? [])] };
  return meter.createHistogram(name, { unit, description: meaning, advice });
}

export function gauge(meter: Meter, name: GaugeName): Observable {
  const { unit, meaning } = METRICS[name];
  return meter.createObservableGauge(name, { unit, description: meaning });
}
