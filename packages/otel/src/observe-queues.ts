import { type Attributes, type BatchObservableResult, diag, type Meter } from '@opentelemetry/api';
import type { Backend, Capabilities } from '@surety/core/contract';
import { BoundedNames } from './bounded-names.ts';
import { codeLabel } from './error-type.ts';
import { counter, gauge, meterInUse, SCOPE } from './instruments.ts';
import { INACTIVE, type Observation, observation } from './observation.ts';
import {
  type QueueObservationOptions,
  type QueueObservationSettings,
  queueObservationSettings,
} from './options.ts';
import { type Figure, figuresOf } from './queue-figures.ts';
import { QueueReader, type ReadFailure } from './queue-reader.ts';

/**
 * Reports what the store holds: depth, age of the oldest ready job, leased jobs and dead letters of each queue (G5). The store is read
 * when metrics are collected, once for all gauges, within `timeoutMs`; never between collections. The backend is opened with the first
 * one, and held until `stop`. A read that fails is counted, and told to OpenTelemetry's `diag` logger; what it did not show is reported
 * as NaN, not as it was before. Set the meter provider first: where there is none, nothing is read, and a provider set later is not
 * noticed. Throws OPTIONS_INVALID, CONTRACT_VERSION_UNSUPPORTED.
 */
export function observeQueues<C extends Capabilities>(
  backend: Backend<C>,
  options: QueueObservationOptions = {},
): Observation {
  const settings = queueObservationSettings(options);
  const meter = meterInUse(options.meter);
  if (meter === null) return INACTIVE;
  const gauges = new QueueGauges(backend as unknown as Backend, meter, settings);
  return observation(() => gauges.end());
}

class QueueGauges {
  readonly #meter: Meter;
  readonly #constant: Attributes;
  readonly #queues: BoundedNames;
  readonly #reader: QueueReader;
  readonly #gauges;
  readonly #failures;
  /** Every time series that was ever reported; the limits of the labels keep it finite. */
  readonly #reported = new Map<string, Figure>();
  #isFailing = false;
  #ended = false;

  constructor(backend: Backend, meter: Meter, settings: QueueObservationSettings) {
    this.#meter = meter;
    this.#constant = settings.attributes;
    this.#queues = new BoundedNames(settings.limits.queues);
    this.#reader = new QueueReader(backend, {
      queues: settings.queues,
      remembered: settings.limits.queues,
      intervalMs: settings.intervalMs,
      timeoutMs: settings.timeoutMs,
      onLook: (failures) => this.#tell(failures),
    });
    this.#gauges = {
      'surety.queue.depth': gauge(meter, 'surety.queue.depth'),
      'surety.queue.oldest_ready_age': gauge(meter, 'surety.queue.oldest_ready_age'),
      'surety.queue.leased': gauge(meter, 'surety.queue.leased'),
      'surety.queue.dead_letters': gauge(meter, 'surety.queue.dead_letters'),
    };
    this.#failures = counter(meter, 'surety.queue.read.failures');
    meter.addBatchObservableCallback(this.#observe, Object.values(this.#gauges));
  }

  async end(): Promise<void> {
    this.#ended = true;
    if (this.#reported.size === 0) this.#leave();
    await this.#reader.close();
  }

  readonly #observe = async (result: BatchObservableResult): Promise<void> => {
    if (this.#ended) {
      // The last word, after which nothing is left behind; the SDK is going through its list just now.
      queueMicrotask(() => this.#leave());
      return this.#report(result, new Map());
    }
    const reading = await this.#reader.read();
    this.#report(result, figuresOf(reading, this.#queues, this.#constant));
  };

  /**
   * A series that is not observed is repeated with its last value by an SDK that cumulates, as the one for Node does: an age that stands
   * still would raise no alert, or never clear one. NaN ends that; it is neither above nor below any threshold.
   */
  #report(result: BatchObservableResult, figures: ReadonlyMap<string, Figure>): void {
    for (const [key, { metric, attributes }] of this.#reported) {
      if (!figures.has(key)) result.observe(this.#gauges[metric], Number.NaN, attributes);
    }
    for (const [key, figure] of figures) {
      this.#reported.set(key, figure);
      result.observe(this.#gauges[figure.metric], figure.value, figure.attributes);
    }
  }

  #tell(failures: readonly ReadFailure[]): void {
    for (const { operation, error } of failures) {
      this.#failures.add(1, {
        ...this.#constant,
        'messaging.operation.name': operation,
        'error.type': codeLabel(error.code),
      });
    }
    const [first] = failures;
    const wasFailing = this.#isFailing;
    this.#isFailing = first !== undefined;
    if (first !== undefined && !wasFailing) {
      const rest = failures.length > 1 ? ` (and ${failures.length - 1} more)` : '';
      diag.warn(`${SCOPE.name}: ${first.operation} failed: ${first.error.message}${rest}`);
    }
    if (first === undefined && wasFailing) diag.info(`${SCOPE.name}: the queues can be read again.`);
  }

  #leave(): void {
    this.#meter.removeBatchObservableCallback(this.#observe, Object.values(this.#gauges));
  }
}
