import type { Attributes, Meter } from '@opentelemetry/api';
import { QUEUE_NAME } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';

/** How many distinct values a label may have; whatever comes later shares `_OTHER`. */
export interface LabelLimits {
  /** 100 when left out. */
  readonly types?: number;
  /** 50 when left out. */
  readonly queues?: number;
  /** Classes of errors that handlers throw; 30 when left out. Codes of Surety are not counted. */
  readonly errorTypes?: number;
}

/** Options of `observeWorker`. */
export interface WorkerObservationOptions {
  /** That of the global meter provider when left out. */
  readonly meter?: Meter;
  /** Added to every measurement, for instance to tell two backends apart. Few values: never an id. */
  readonly attributes?: Attributes;
  readonly limits?: LabelLimits;
}

/** Options of `observeQueues`. */
export interface QueueObservationOptions {
  /** That of the global meter provider when left out. */
  readonly meter?: Meter;
  /** Added to every measurement, for instance to tell two backends apart. Few values: never an id. */
  readonly attributes?: Attributes;
  /** Queues to read; when left out those that the backend lists at each read, and those it has listed before. */
  readonly queues?: readonly string[];
  /** A collection that comes sooner after the last read is answered from it; 1000 when left out, 0: each reads. */
  readonly intervalMs?: number;
  /** Time limit of one read of all queues; 5000 when left out, less than what a scrape may usually take. */
  readonly timeoutMs?: number;
  readonly limits?: Pick<LabelLimits, 'queues'>;
}

/** {@link LabelLimits}, checked and complete. */
export type Limits = Readonly<Record<keyof LabelLimits, number>>;

/** {@link QueueObservationOptions}, checked and complete. */
export interface QueueObservationSettings {
  readonly attributes: Attributes;
  readonly queues: readonly string[] | null;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly limits: Limits;
}

const DEFAULT_LIMITS: Limits = Object.freeze({ types: 100, queues: 50, errorTypes: 30 });
/** Beyond it no time series database is glad any more. */
const HIGHEST_LIMIT = 10_000;
const HOUR_MS = 3_600_000;

/** Throws OPTIONS_INVALID. */
export function workerObservationSettings(options: WorkerObservationOptions): {
  readonly attributes: Attributes;
  readonly limits: Limits;
} {
  assertKnown('observeWorker', options, ['meter', 'attributes', 'limits']);
  return { attributes: { ...options.attributes }, limits: checkedLimits(options.limits ?? {}) };
}

/** Throws OPTIONS_INVALID. */
export function queueObservationSettings(options: QueueObservationOptions): QueueObservationSettings {
  assertKnown('observeQueues', options, [
    'meter',
    'attributes',
    'queues',
    'intervalMs',
    'timeoutMs',
    'limits',
  ]);
  return {
    attributes: { ...options.attributes },
    queues: checkedQueues(options.queues),
    intervalMs: wholeNumber('intervalMs', options.intervalMs ?? 1000, 0, HOUR_MS),
    timeoutMs: wholeNumber('timeoutMs', options.timeoutMs ?? 5000, 1, HOUR_MS),
    limits: checkedLimits(options.limits ?? {}),
  };
}

function checkedQueues(queues: readonly string[] | undefined): readonly string[] | null {
  if (queues === undefined) return null;
  const valid =
    Array.isArray(queues) && queues.every((name) => typeof name === 'string' && QUEUE_NAME.test(name));
  if (!valid) throw new SuretyError('OPTIONS_INVALID', 'queues must be an array of queue names.');
  return [...new Set(queues)];
}

function checkedLimits(limits: LabelLimits): Limits {
  assertKnown('limits', limits, Object.keys(DEFAULT_LIMITS));
  const limit = (name: keyof Limits): number =>
    wholeNumber(`limits.${name}`, limits[name] ?? DEFAULT_LIMITS[name], 1, HIGHEST_LIMIT);
  return { types: limit('types'), queues: limit('queues'), errorTypes: limit('errorTypes') };
}

/** A misspelt option must not be ignored in silence. */
function assertKnown(where: string, value: unknown, known: readonly string[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new SuretyError('OPTIONS_INVALID', `${where} takes an object of options.`);
  }
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    throw new SuretyError('OPTIONS_INVALID', `${where} has no option ${JSON.stringify(key)}.`, {
      remedy: `Known options: ${known.join(', ')}.`,
    });
  }
}

function wholeNumber(option: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new SuretyError('OPTIONS_INVALID', `${option} must be a whole number from ${min} to ${max}.`);
}
