import { types } from 'node:util';
import { type Capabilities, DEFAULT_PRIORITY, JOB_ID, MAX_DELAY_MS, type NewJob } from '../contract/index.ts';
import { assertQueueName, type JobDefinition, MOST_ATTEMPTS } from '../definition/define-job.ts';
import { SuretyError } from '../errors/index.ts';
import { durationMs, shown } from '../options/duration.ts';
import { assertKnownOptions, wholeNumber } from '../options/known-options.ts';
import { isPlainObject } from '../options/plain-object.ts';
import { type AnyEnqueueOptions, ENQUEUE_OPTIONS } from './enqueue-options.ts';
import { jobBytes, mostBytes } from './job-size.ts';
import { newId } from './new-id.ts';
import { payloadText } from './payload-text.ts';

/** What the client knows beside the job itself. */
export interface JobContextOfClient {
  readonly capabilities: Capabilities;
  readonly maxPayloadBytes: number;
  readonly maxDepth: ReadonlyMap<string, number>;
}

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});
const NO_OPTIONS: AnyEnqueueOptions = Object.freeze({});
const MAX_HEADER_BYTES = 8 * 1024;
const DAY_MS = 86_400_000;

/** Checks one enqueue whole, before anything is sent, and makes the job. The input itself was validated before (G7.2, G7.4). */
export function newJob(
  definition: JobDefinition<unknown, unknown>,
  input: unknown,
  options: AnyEnqueueOptions | undefined,
  client: JobContextOfClient,
): NewJob {
  const given = options === undefined ? NO_OPTIONS : options;
  if (given !== NO_OPTIONS) assertKnownOptions('enqueue', given, ENQUEUE_OPTIONS);
  const { capabilities } = client;
  const id = given.id === undefined ? newId() : checkedId(given.id);
  const queue = given.queue === undefined ? definition.queue : given.queue;
  if (queue !== definition.queue) assertQueueName(queue);
  assertTransaction(given.tx, capabilities);
  const job: NewJob = {
    id,
    queue,
    type: definition.type,
    payload: payloadText(input),
    headers: given.headers === undefined ? NO_HEADERS : checkedHeaders(given.headers),
    idempotencyKey:
      given.idempotencyKey === undefined ? id : checkedKey('idempotencyKey', given.idempotencyKey),
    delayMs: delayOf(given, capabilities),
    expiresInMs: given.expiresAt === undefined ? null : Math.max(0, msUntil('expiresAt', given.expiresAt)),
    priority: priorityOf(given.priority, capabilities),
    dedupe: dedupeOf(given, capabilities),
    maxAttempts:
      given.maxAttempts === undefined
        ? null
        : wholeNumber('maxAttempts', given.maxAttempts, 1, MOST_ATTEMPTS),
    maxDepth: client.maxDepth.get(queue) ?? null,
  };
  assertSize(job, client.maxPayloadBytes);
  return job;
}

/** A transaction that is not there must not turn into an enqueue outside of one. */
function assertTransaction(tx: unknown, capabilities: Capabilities): void {
  if (tx === undefined) return;
  if (!capabilities.transactional) throw lacking('tx');
  if (tx === null) throw new SuretyError('OPTIONS_INVALID', 'tx is null.');
}

function checkedId(id: unknown): string {
  if (typeof id === 'string' && JOB_ID.test(id)) return id;
  throw new SuretyError('OPTIONS_INVALID', `${shown(id)} is not a job id.`, {
    remedy: 'Give a UUID in lower case; for a natural key use dedupeKey or idempotencyKey.',
  });
}

function checkedKey(option: string, key: unknown): string {
  const good = typeof key === 'string' && key.length > 0 && key.length <= 256;
  if (good && key.isWellFormed() && !key.includes('\u0000')) return key;
  throw new SuretyError(
    'OPTIONS_INVALID',
    `${option} must be 1 to 256 characters without NUL or lone surrogates, not ${shown(key)}.`,
  );
}

function checkedHeaders(headers: unknown): Readonly<Record<string, string>> {
  if (!isPlainObject(headers)) {
    throw new SuretyError('OPTIONS_INVALID', `headers must be a plain object, not ${shown(headers)}.`);
  }
  let bytes = 0;
  for (const [name, value] of Object.entries<unknown>(headers as Record<string, unknown>)) {
    if (typeof value !== 'string' || !value.isWellFormed() || !name.isWellFormed()) {
      throw new SuretyError('OPTIONS_INVALID', `The header ${shown(name)} is not well-formed text.`);
    }
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  }
  if (bytes > MAX_HEADER_BYTES)
    throw new SuretyError(
      'LIMIT_EXCEEDED',
      `The headers take ${bytes} bytes; ${MAX_HEADER_BYTES} are allowed.`,
    );
  return { ...(headers as Record<string, string>) };
}

function assertSize(job: NewJob, limit: number): void {
  if (mostBytes(job) <= limit) return;
  const bytes = jobBytes(job);
  if (bytes <= limit) return;
  throw new SuretyError(
    'PAYLOAD_TOO_LARGE',
    `A job ${job.type} takes ${bytes} bytes with its envelope; ${limit} are allowed.`,
  );
}

function delayOf(options: AnyEnqueueOptions, capabilities: Capabilities): number {
  if (options.delay !== undefined && options.runAt !== undefined) {
    throw new SuretyError('OPTIONS_INVALID', 'Both delay and runAt are given.', {
      remedy: 'Give one of them.',
    });
  }
  const limit = Math.min(MAX_DELAY_MS, capabilities.delay.maxMs);
  if (options.runAt !== undefined)
    return durationMs('runAt', Math.max(0, msUntil('runAt', options.runAt)), 0, limit);
  return options.delay === undefined ? 0 : durationMs('delay', options.delay, 0, limit);
}

function msUntil(option: string, at: unknown): number {
  if (!types.isDate(at) || Number.isNaN(at.getTime())) {
    throw new SuretyError('OPTIONS_INVALID', `${option} is not a valid date.`);
  }
  return at.getTime() - Date.now();
}

function priorityOf(priority: unknown, capabilities: Capabilities): number {
  if (capabilities.priority === 'none') {
    if (priority === undefined) return 0;
    throw lacking('priority');
  }
  const last = capabilities.priority.levels - 1;
  return priority === undefined
    ? Math.min(DEFAULT_PRIORITY, last)
    : wholeNumber('priority', priority, 0, last);
}

function dedupeOf(options: AnyEnqueueOptions, capabilities: Capabilities): NewJob['dedupe'] {
  if (options.dedupeKey === undefined && options.dedupeWindow === undefined) return null;
  if (capabilities.dedupe === 'none') throw lacking('dedupeKey');
  const key = checkedKey('dedupeKey', options.dedupeKey);
  return {
    key,
    windowMs: durationMs(
      'dedupeWindow',
      options.dedupeWindow === undefined ? DAY_MS : options.dedupeWindow,
      1,
      capabilities.dedupe.maxWindowMs,
    ),
  };
}

function lacking(option: string): SuretyError {
  return new SuretyError('CAPABILITY_MISSING', `This backend has no ${option}.`);
}
