import type { StandardSchemaV1 } from '@standard-schema/spec';
import { JOB_TYPE, QUEUE_NAME } from '../contract/index.ts';
import { SuretyError } from '../errors/index.ts';
import { type Duration, durationMs, shown } from '../options/duration.ts';
import { assertKnownOptions, wholeNumber } from '../options/known-options.ts';
import { isPlainObject } from '../options/plain-object.ts';
import type { RetryPolicy } from '../retry/backoff.ts';

/** What a job is: its type, schema, queue and limits. Safe to import in a producer; the handler stands apart. */
export interface JobDefinition<Input, Output = Input> {
  readonly type: string;
  readonly queue: string;
  /** Any Standard Schema; null: the payload is not checked. */
  readonly input: StandardSchemaV1<Input, Output> | null;
  readonly retry: RetryPolicy;
  /** After it the handler's signal aborts and the attempt counts as failed with TIMEOUT. */
  readonly timeoutMs: number;
}

/** Options of {@link defineJob}. */
export interface JobOptions<Input, Output> {
  readonly input?: StandardSchemaV1<Input, Output>;
  /** `default` when left out; an enqueue may override it. */
  readonly queue?: string;
  /** 8 attempts, base 2 s, cap 1 h when left out. */
  readonly retry?: { readonly maxAttempts?: number; readonly base?: Duration; readonly cap?: Duration };
  /** 5 minutes when left out. */
  readonly timeout?: Duration;
}

const DAY_MS = 86_400_000;
/** Fits the counters of every store; a job with more attempts would be a loop, not a job. */
export const MOST_ATTEMPTS: number = 1_000_000;

/** Defines a job. Throws OPTIONS_INVALID. Defaults: queue `default`, 8 attempts, base 2 s, cap 1 h, timeout 5 min. */
export function defineJob<Input, Output = Input>(
  type: string,
  options: JobOptions<Input, Output> = {},
): JobDefinition<Input, Output> {
  assertJobType(type);
  assertKnownOptions(`defineJob(${JSON.stringify(type)})`, options, ['input', 'queue', 'retry', 'timeout']);
  const retry = options.retry ?? {};
  assertKnownOptions('retry', retry, ['maxAttempts', 'base', 'cap']);
  assertQueueName(options.queue ?? 'default');
  assertSchema(options.input);
  return Object.freeze({
    type,
    queue: options.queue ?? 'default',
    input: options.input ?? null,
    retry: Object.freeze({
      maxAttempts: wholeNumber('retry.maxAttempts', retry.maxAttempts ?? 8, 1, MOST_ATTEMPTS),
      baseMs: durationMs('retry.base', retry.base ?? 2000, 0, 30 * DAY_MS),
      capMs: durationMs('retry.cap', retry.cap ?? 3_600_000, 0, 30 * DAY_MS),
    }),
    timeoutMs: durationMs('timeout', options.timeout ?? 300_000, 1, 366 * DAY_MS),
  });
}

/** Throws OPTIONS_INVALID unless it is a queue name. */
export function assertQueueName(queue: unknown): asserts queue is string {
  if (typeof queue === 'string' && QUEUE_NAME.test(queue)) return;
  throw new SuretyError('OPTIONS_INVALID', `${shown(queue)} is not a queue name.`, {
    remedy: 'Use 1 to 40 of a-z, 0-9, - and _, beginning with a letter or digit.',
  });
}

/** Throws OPTIONS_INVALID unless it is what {@link defineJob} made, in whichever copy of the package. */
export function assertDefinition(
  where: string,
  value: unknown,
): asserts value is JobDefinition<unknown, unknown> {
  if (!isPlainObject(value)) throw noDefinition(where, value);
  const given: Partial<JobDefinition<unknown, unknown>> = value;
  assertJobType(given.type);
  assertQueueName(given.queue);
  assertSchema(given.input ?? undefined);
  if (typeof given.retry !== 'object' || typeof given.timeoutMs !== 'number')
    throw noDefinition(where, value);
}

function noDefinition(where: string, value: unknown): SuretyError {
  return new SuretyError('OPTIONS_INVALID', `${where} takes the definition of a job, not ${shown(value)}.`, {
    remedy: 'Give what defineJob returned.',
  });
}

function assertJobType(type: unknown): void {
  if (typeof type === 'string' && JOB_TYPE.test(type)) return;
  throw new SuretyError('OPTIONS_INVALID', `${shown(type)} is not a job type.`, {
    remedy: 'Use 1 to 128 of A-Z, a-z, 0-9 and . _ : -',
  });
}

function assertSchema(schema: unknown): void {
  if (schema === undefined) return;
  const standard = (schema as { '~standard'?: { validate?: unknown } } | null)?.['~standard'];
  if (typeof standard?.validate === 'function') return;
  throw new SuretyError('OPTIONS_INVALID', 'input is not a Standard Schema.', {
    remedy: 'Give a schema of a library that implements Standard Schema (zod, valibot, arktype, ...).',
  });
}
