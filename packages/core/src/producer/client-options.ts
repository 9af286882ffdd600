import { type Backend, type Capabilities, DEFAULT_MAX_PAYLOAD_BYTES } from '../contract/index.ts';
import { assertQueueName } from '../definition/define-job.ts';
import { SuretyError } from '../errors/index.ts';
import { type Duration, durationMs } from '../options/duration.ts';
import { assertKnownOptions, wholeNumber } from '../options/known-options.ts';
import { negotiate, type Requirements } from '../startup/negotiate.ts';
import { checkedTrace, type TraceChoice } from '../trace/trace-choice.ts';

/** Options of {@link createClient}. */
export interface ClientOptions<C extends Capabilities> {
  readonly backend: Backend<C>;
  /** What the backend must offer; checked at once. */
  readonly requires?: Requirements;
  /** Of one job with its envelope; 200 KiB when left out. */
  readonly maxPayloadBytes?: number;
  /** Per queue: refuse to enqueue when this many jobs are ready or scheduled. */
  readonly maxDepth?: Readonly<Record<string, number>>;
  /** Time limit of an enqueue; 10 s when left out. */
  readonly timeout?: Duration;
  /** Enqueues that may wait in this process; 10,000 when left out. */
  readonly maxPending?: number;
  /** Writes a history of all that is enqueued: see `@surety/history`. The file is opened at once and closed by `close`. */
  readonly trace?: TraceChoice;
}

/** {@link ClientOptions}, checked and complete. */
export interface ClientSettings {
  readonly backend: Backend;
  readonly capabilities: Capabilities;
  readonly requires: Requirements;
  readonly maxPayloadBytes: number;
  readonly maxDepth: ReadonlyMap<string, number>;
  readonly timeoutMs: number;
  readonly maxPending: number;
  readonly trace: TraceChoice | null;
}

const CLIENT_OPTIONS = [
  'backend',
  'requires',
  'maxPayloadBytes',
  'maxDepth',
  'timeout',
  'maxPending',
  'trace',
];
/** An hour: the longest that a call may wait for the store. */
const LONGEST_TIMEOUT_MS = 3_600_000;

/** Throws OPTIONS_INVALID, CAPABILITY_MISSING, LIMIT_EXCEEDED, CONTRACT_VERSION_UNSUPPORTED. */
export function clientSettings(options: ClientOptions<Capabilities>): ClientSettings {
  assertKnownOptions('createClient', options, CLIENT_OPTIONS);
  const { backend } = options;
  const { requires = {} } = options;
  negotiate(backend, requires);
  return {
    backend,
    capabilities: backend.capabilities,
    requires,
    maxPayloadBytes: maxPayloadBytes(options.maxPayloadBytes, backend),
    maxDepth: checkedDepths(options.maxDepth ?? {}, backend),
    timeoutMs: enqueueTimeoutMs(options.timeout ?? 10_000),
    maxPending: wholeNumber('maxPending', options.maxPending ?? 10_000, 1, 10_000_000),
    trace: checkedTrace(options.trace),
  };
}

/** The time limit of one enqueue in ms. Throws OPTIONS_INVALID. */
export function enqueueTimeoutMs(timeout: unknown): number {
  return durationMs('timeout', timeout, 1, LONGEST_TIMEOUT_MS);
}

function maxPayloadBytes(given: number | undefined, backend: Backend): number {
  const limit = wholeNumber('maxPayloadBytes', given ?? DEFAULT_MAX_PAYLOAD_BYTES, 1024, 1024 ** 3);
  if (limit <= backend.capabilities.payload.maxBytes) return limit;
  throw new SuretyError(
    'LIMIT_EXCEEDED',
    `maxPayloadBytes is ${limit}; ${backend.name} takes ${backend.capabilities.payload.maxBytes}.`,
    { adapter: backend.name },
  );
}

function checkedDepths(
  depths: Readonly<Record<string, number>>,
  backend: Backend,
): ReadonlyMap<string, number> {
  assertKnownOptions('maxDepth', depths, Object.keys(depths));
  const entries = Object.entries(depths);
  if (entries.length > 0 && backend.capabilities.maxDepth === 'none') {
    throw new SuretyError('CAPABILITY_MISSING', `${backend.name} cannot bound the depth of a queue.`, {
      adapter: backend.name,
    });
  }
  for (const [queue, depth] of entries) {
    assertQueueName(queue);
    wholeNumber(`maxDepth.${queue}`, depth, 1, Number.MAX_SAFE_INTEGER);
  }
  return new Map(entries);
}
