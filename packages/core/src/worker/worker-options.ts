import type { Logger } from 'pino';
import type { Backend, Capabilities } from '../contract/index.ts';
import { assertQueueName } from '../definition/define-job.ts';
import type { Handler } from '../definition/handle.ts';
import { SuretyError } from '../errors/index.ts';
import type { AttemptEvent } from '../events/worker-events.ts';
import type { LogChoice } from '../logging/attempt-log.ts';
import { type Duration, durationMs } from '../options/duration.ts';
import { assertKnownOptions, wholeNumber } from '../options/known-options.ts';
import { negotiate, type Requirements } from '../startup/negotiate.ts';
import { checkedTrace, type TraceChoice } from '../trace/trace-choice.ts';

/** Options of `createWorker`. */
export interface WorkerOptions<C extends Capabilities = Capabilities> {
  readonly backend: Backend<C>;
  /** One per type. A fenced handler needs a backend whose fence is monotonic. */
  readonly handlers: readonly Handler<C['fence'] extends 'none' ? false : boolean>[];
  /** Handlers that run at the same time, over all queues; 10 when left out. */
  readonly concurrency?: number;
  /** Queues to serve; those of the handlers' definitions when left out. */
  readonly queues?: readonly string[];
  /** Per queue, how many starts it gets in turn; 1 when left out. */
  readonly weights?: Readonly<Record<string, number>>;
  /** At most this many starts a second, over all queues of this worker. */
  readonly rate?: { readonly perSecond: number };
  /** Length of a lease, renewed from a third of it on; 30 s when left out. */
  readonly lease?: Duration;
  /** After a timeout or at the end of a drain a handler has this long to return; 5 s when left out. */
  readonly grace?: Duration;
  /** A handler that still runs this long after its job was settled gives its slot back; 10 min when left out. */
  readonly zombie?: Duration;
  /** False: never hold more than can run. Slower for short jobs, fewer charged to a crash. */
  readonly claimAhead?: boolean;
  /**
   * Raise `age-alert` when the oldest ready job of a queue is older. A backend whose capability `oldestReadyAge` is `none` or `upper-bound` can prove no
   * age: there nothing is raised, and a notice says so at the start.
   */
  readonly alert?: { readonly oldestReadyAge: Duration; readonly every?: Duration };
  /** Every death of a job passes here, whatever its road. */
  readonly onDead?: (event: AttemptEvent) => unknown;
  /** `all` when left out: one line per attempt. */
  readonly log?: LogChoice;
  /** A pino logger of the application's own. */
  readonly logger?: Logger;
  /** Stop on SIGTERM and SIGINT; false when left out. */
  readonly signals?: boolean;
  /** Time limit of one call to the store; 10 s when left out. */
  readonly timeout?: Duration;
  readonly requires?: Requirements;
  /** Writes a history of all that this worker does: see `@surety/history`. Nothing is written, and nothing paid, when left out. */
  readonly trace?: TraceChoice;
}

/** The same, checked and complete. */
export interface WorkerSettings {
  readonly backend: Backend;
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly concurrency: number;
  readonly queues: readonly string[];
  readonly weights: Readonly<Record<string, number>>;
  readonly perSecond: number | null;
  readonly leaseMs: number;
  readonly graceMs: number;
  readonly zombieMs: number;
  readonly claimAhead: boolean;
  readonly alert: { readonly limitMs: number; readonly everyMs: number } | null;
  readonly onDead: ((event: AttemptEvent) => unknown) | null;
  readonly log: LogChoice;
  readonly logger: Logger | null;
  readonly signals: boolean;
  readonly timeoutMs: number;
  readonly requires: Requirements;
  readonly trace: TraceChoice | null;
}

const WORKER_OPTIONS = [
  'backend',
  'handlers',
  'concurrency',
  'queues',
  'weights',
  'rate',
  'lease',
  'grace',
  'zombie',
  'claimAhead',
  'alert',
  'onDead',
  'log',
  'logger',
  'signals',
  'timeout',
  'requires',
  'trace',
];
const DAY_MS = 86_400_000;

/** Checks everything at once, against the backend's limits too. Throws OPTIONS_INVALID, JOB_DEFINED_TWICE, LIMIT_EXCEEDED, CAPABILITY_MISSING. */
export function workerSettings(options: WorkerOptions): WorkerSettings {
  assertKnownOptions('createWorker', options, WORKER_OPTIONS);
  const { requires = {} } = options;
  negotiate(options.backend, requires);
  const { capabilities } = options.backend;
  const handlers = handlersByType(options.handlers);
  const queues = [
    ...new Set(options.queues ?? [...handlers.values()].map(({ definition }) => definition.queue)),
  ];
  queues.forEach((queue) => assertQueueName(queue));
  if (queues.length === 0)
    throw new SuretyError('OPTIONS_INVALID', 'The worker has no queue to serve.', {
      remedy: 'Give it a handler.',
    });
  const leaseMs = durationMs(
    'lease',
    options.lease ?? Math.min(30_000, capabilities.lease.maxMs),
    1,
    366 * DAY_MS,
  );
  assertLease(leaseMs, options.backend);
  assertHandlersFit(handlers, options.backend);
  return {
    backend: options.backend,
    handlers,
    queues,
    leaseMs,
    concurrency: wholeNumber('concurrency', options.concurrency ?? 10, 1, 10_000),
    weights: checkedWeights(options.weights ?? {}, queues),
    perSecond: checkedRate(options.rate),
    graceMs: durationMs('grace', options.grace ?? 5000, 0, DAY_MS),
    zombieMs: durationMs('zombie', options.zombie ?? 600_000, 1, 366 * DAY_MS),
    // Where the delivery itself is charged, holding what cannot start would charge it for nothing.
    claimAhead: (options.claimAhead ?? true) && capabilities.attempts === 'exact',
    alert: checkedAlert(options.alert),
    onDead: options.onDead ?? null,
    log: checkedLog(options.log ?? 'all'),
    logger: options.logger ?? null,
    signals: options.signals ?? false,
    timeoutMs: durationMs('timeout', options.timeout ?? 10_000, 1, 3_600_000),
    requires,
    trace: checkedTrace(options.trace),
  };
}

function handlersByType(handlers: readonly Handler[] | undefined): ReadonlyMap<string, Handler> {
  if (!Array.isArray(handlers))
    throw new SuretyError('OPTIONS_INVALID', 'handlers must be an array.', {
      remedy: 'Give a list of handle(...).',
    });
  const byType = new Map<string, Handler>();
  for (const handler of handlers as readonly Handler[]) {
    const type = handler?.definition?.type;
    if (typeof type !== 'string' || typeof handler.run !== 'function') {
      throw new SuretyError('OPTIONS_INVALID', 'handlers holds something that handle() did not make.');
    }
    if (byType.has(type))
      throw new SuretyError('JOB_DEFINED_TWICE', `The worker has two handlers for ${type}.`);
    byType.set(type, handler);
  }
  return byType;
}

function assertLease(leaseMs: number, { name, capabilities }: Backend): void {
  const { minMs, maxMs, marginMs } = capabilities.lease;
  if (leaseMs < minMs || leaseMs > maxMs)
    throw new SuretyError('LIMIT_EXCEEDED', `lease is ${leaseMs} ms; ${name} allows ${minMs} to ${maxMs}.`);
  if (marginMs >= leaseMs / 2)
    throw new SuretyError(
      'LIMIT_EXCEEDED',
      `lease is ${leaseMs} ms, too short for the margin of ${marginMs} ms of ${name}.`,
    );
}

function assertHandlersFit(handlers: ReadonlyMap<string, Handler>, { name, capabilities }: Backend): void {
  for (const { definition, fenced } of handlers.values()) {
    if (definition.timeoutMs > capabilities.lease.maxMs) {
      throw new SuretyError(
        'LIMIT_EXCEEDED',
        `The timeout of ${definition.type} is ${definition.timeoutMs} ms; a lease on ${name} lasts ${capabilities.lease.maxMs} at most.`,
      );
    }
    if (fenced && capabilities.fence === 'none') {
      throw new SuretyError(
        'CAPABILITY_MISSING',
        `The handler of ${definition.type} needs a fence; ${name} has none.`,
      );
    }
  }
}

function checkedWeights(
  weights: Readonly<Record<string, number>>,
  queues: readonly string[],
): Readonly<Record<string, number>> {
  assertKnownOptions('weights', weights, queues);
  for (const queue of Object.keys(weights)) wholeNumber(`weights.${queue}`, weights[queue], 1, 1000);
  return { ...weights };
}

function checkedRate(rate: WorkerOptions['rate']): number | null {
  if (rate === undefined) return null;
  assertKnownOptions('rate', rate, ['perSecond']);
  if (typeof rate.perSecond === 'number' && rate.perSecond > 0 && Number.isFinite(rate.perSecond))
    return rate.perSecond;
  throw new SuretyError('OPTIONS_INVALID', 'rate.perSecond must be a number above 0.');
}

function checkedAlert(alert: WorkerOptions['alert']): WorkerSettings['alert'] {
  if (alert === undefined) return null;
  assertKnownOptions('alert', alert, ['oldestReadyAge', 'every']);
  const limitMs = durationMs('alert.oldestReadyAge', alert.oldestReadyAge, 1, 366 * DAY_MS);
  return { limitMs, everyMs: durationMs('alert.every', alert.every ?? 15_000, 10, DAY_MS) };
}

function checkedLog(log: unknown): LogChoice {
  if (log === 'all' || log === 'failures' || log === 'none') return log;
  throw new SuretyError('OPTIONS_INVALID', "log must be 'all', 'failures' or 'none'.");
}
