import { AssertionError } from 'node:assert';
import type { NewJob } from '@surety/core/contract';

/** A job that was enqueued while the kit was there, done or not. */
export interface EnqueuedJob {
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  /** What a handler gets: the input after its way through JSON. */
  readonly input: unknown;
  readonly delayMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly idempotencyKey: string;
  readonly dedupeKey: string | null;
}

/** What an enqueued job must be like. What is left out may be anything. */
export interface EnqueuedExpectation {
  /** Part of the input: objects may have further keys, at any depth; arrays must be as long. */
  readonly input?: unknown;
  readonly queue?: string;
  /** Exactly so many; at least one when left out. */
  readonly count?: number;
}

/** More than this many lines of a list help nobody. */
const SHOWN_JOBS = 20;
const SHOWN_INPUT = 200;

/** What a stored job was enqueued as. */
export function enqueuedJob(job: NewJob): EnqueuedJob {
  const { id, type, queue, delayMs, headers, idempotencyKey } = job;
  const input: unknown = JSON.parse(job.payload);
  return { id, type, queue, input, delayMs, headers, idempotencyKey, dedupeKey: job.dedupe?.key ?? null };
}

/** The jobs that fit; throws an AssertionError that lists what was enqueued. */
export function assertEnqueued(
  jobs: readonly EnqueuedJob[],
  type: string,
  expectation: EnqueuedExpectation,
): readonly EnqueuedJob[] {
  const wanted = throughJson(expectation.input);
  const found = jobs.filter(
    (job) =>
      job.type === type &&
      (expectation.queue === undefined || job.queue === expectation.queue) &&
      (wanted === undefined || includes(job.input, wanted)),
  );
  const { count } = expectation;
  if (count === undefined ? found.length > 0 : found.length === count) return found;
  throw new AssertionError({
    message: messageOf(jobs, type, expectation, found.length),
    actual: jobs.filter((job) => job.type === type).map((job) => job.input),
    expected: wanted,
    operator: 'assertEnqueued',
    stackStartFn: assertEnqueued,
  });
}

function messageOf(
  jobs: readonly EnqueuedJob[],
  type: string,
  { count, queue, input }: EnqueuedExpectation,
  found: number,
): string {
  const number =
    count === undefined ? 'at least one job' : `exactly ${count} ${count === 1 ? 'job' : 'jobs'}`;
  const where = queue === undefined ? '' : ` on queue '${queue}'`;
  const like = input === undefined ? '' : ` with input like ${shown(input)}`;
  const head = `Expected ${number} '${type}'${where}${like}, found ${found}.`;
  if (jobs.length === 0) return `${head}\nNothing was enqueued.`;
  // Those of the type first: one of them is most likely the one that was meant.
  const sorted = [...jobs.filter((job) => job.type === type), ...jobs.filter((job) => job.type !== type)];
  const lines = sorted
    .slice(0, SHOWN_JOBS)
    .map((job) => `  - ${job.type} on '${job.queue}' ${shown(job.input)}`);
  const more = sorted.length > SHOWN_JOBS ? [`  and ${sorted.length - SHOWN_JOBS} more`] : [];
  return [head, 'Enqueued were:', ...lines, ...more].join('\n');
}

/** Whether `actual` has everything that `part` has. Both are plain JSON. */
function includes(actual: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return Object.is(actual, part);
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual) !== Array.isArray(part))
    return false;
  if (Array.isArray(part) && (actual as unknown[]).length !== part.length) return false;
  return Object.entries(part).every(
    ([key, value]) => Object.hasOwn(actual, key) && includes((actual as Record<string, unknown>)[key], value),
  );
}

/** Dates and the like become what they are in a payload. */
function throughJson(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= SHOWN_INPUT ? text : `${text.slice(0, SHOWN_INPUT)}...`;
}
