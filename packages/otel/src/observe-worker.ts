import type { Attributes, Meter } from '@opentelemetry/api';
import type { AttemptEvent, AttemptOutcome, Worker, WorkerEvents } from '@surety/core';
import { BoundedNames } from './bounded-names.ts';
import { errorTypeOf } from './error-type.ts';
import { counter, histogram, meterInUse } from './instruments.ts';
import { INACTIVE, type Observation, observation } from './observation.ts';
import { type Limits, type WorkerObservationOptions, workerObservationSettings } from './options.ts';

/** The job is gone from its queue. */
const ENDS: ReadonlySet<AttemptOutcome> = new Set(['completed', 'cancelled', 'dead']);

/**
 * Turns the events of a worker into metrics: run time, wait time, attempts by outcome, at which attempt jobs end, deaths, lost leases.
 * Any number of workers may be observed; they share the instruments. Set the meter provider first: where there is none, no listener is
 * added, and a provider set later is not noticed. Throws OPTIONS_INVALID.
 */
export function observeWorker(
  worker: Pick<Worker, 'on'>,
  options: WorkerObservationOptions = {},
): Observation {
  const { attributes, limits } = workerObservationSettings(options);
  const meter = meterInUse(options.meter);
  if (meter === null) return INACTIVE;
  const recorder = new AttemptRecorder(meter, attributes, limits);
  const removers = [
    worker.on('attempt', (event) => recorder.attempt(event)),
    worker.on('lease-lost', (event) => recorder.leaseLost(event)),
  ];
  return observation(async () => removers.forEach((remove) => remove()));
}

class AttemptRecorder {
  readonly #constant: Attributes;
  readonly #types: BoundedNames;
  readonly #queues: BoundedNames;
  readonly #errorClasses: BoundedNames;
  readonly #instruments;

  constructor(meter: Meter, constant: Attributes, limits: Limits) {
    this.#constant = constant;
    this.#types = new BoundedNames(limits.types);
    this.#queues = new BoundedNames(limits.queues);
    this.#errorClasses = new BoundedNames(limits.errorTypes);
    this.#instruments = {
      duration: histogram(meter, 'messaging.process.duration'),
      consumed: counter(meter, 'messaging.client.consumed.messages'),
      attempts: counter(meter, 'surety.job.attempts'),
      endAttempt: histogram(meter, 'surety.job.end_attempt'),
      wait: histogram(meter, 'surety.job.wait.duration'),
      deaths: counter(meter, 'surety.job.deaths'),
      leasesLost: counter(meter, 'surety.lease.lost'),
    };
  }

  attempt(event: AttemptEvent): void {
    const { attempts, endAttempt, deaths } = this.#instruments;
    const queue = this.#queueOf(event);
    const job = { ...queue, 'surety.job.type': this.#types.label(event.type) };
    const errorType = errorTypeOf(event, this.#errorClasses);
    const error: Attributes = errorType === null ? {} : { 'error.type': errorType };
    const outcome = { 'surety.job.outcome': event.outcome };
    if (event.durationMs !== null) this.#started(event, event.durationMs, queue, job, error);
    attempts.add(1, { ...job, ...outcome, ...error });
    if (ENDS.has(event.outcome)) endAttempt.record(event.attempt, { ...job, ...outcome });
    if (event.outcome === 'dead') deaths.add(1, { ...job, ...error });
  }

  leaseLost(event: WorkerEvents['lease-lost']): void {
    this.#instruments.leasesLost.add(1, {
      ...this.#queueOf(event),
      'surety.job.type': this.#types.label(event.type),
      'surety.event_loop.blocked': event.loopBlockedMs > 0,
    });
  }

  #started(
    event: AttemptEvent,
    durationMs: number,
    queue: Attributes,
    job: Attributes,
    error: Attributes,
  ): void {
    const { duration, consumed, wait } = this.#instruments;
    const operation = { 'messaging.system': 'surety', 'messaging.operation.name': 'handle' };
    duration.record(durationMs / 1000, { ...job, ...operation, ...error });
    consumed.add(1, { ...queue, ...operation, ...error });
    wait.record(event.waitMs / 1000, job);
  }

  #queueOf({ queue }: { readonly queue: string }): Attributes {
    return { ...this.#constant, 'messaging.destination.name': this.#queues.label(queue) };
  }
}
