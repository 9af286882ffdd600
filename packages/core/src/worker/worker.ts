import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Capabilities, Notice } from '../contract/index.ts';
import { isSuretyError, SuretyError } from '../errors/index.ts';
import { EventBus } from '../events/event-bus.ts';
import type { WorkerEvents, WorkerState } from '../events/worker-events.ts';
import { type AttemptLog, attemptLog } from '../logging/attempt-log.ts';
import { type Duration, durationMs } from '../options/duration.ts';
import { assertKnownOptions } from '../options/known-options.ts';
import { type Client, createClient } from '../producer/client.ts';
import { PauseAfterFailure } from '../retry/pause-after-failure.ts';
import { type BackendHold, holdBackend } from '../startup/backend-session.ts';
import { type GuardedCalls, guardedCalls } from '../startup/guarded-calls.ts';
import { attemptTrace } from '../trace/attempt-trace.ts';
import { type TraceUse, useTrace } from '../trace/trace-choice.ts';
import { recordNotice, traced } from '../trace/traced-backend.ts';
import { AgeWatch, blindness } from './age-watch.ts';
import type { Attempt } from './attempt.ts';
import { messageOf } from './describe-error.ts';
import { Engine } from './engine.ts';
import { Reporter } from './reporter.ts';
import { waitUntil } from './wait-until.ts';
import { type WorkerOptions, type WorkerSettings, workerSettings } from './worker-options.ts';

/** Health of a worker: `ok` says that it could start a job now, not merely that the process lives. */
export interface WorkerHealth {
  readonly ok: boolean;
  readonly state: WorkerState;
  readonly lastClaimOkAgoMs: number | null;
  readonly lastRenewOkAgoMs: number | null;
  readonly running: number;
  readonly reason: string | null;
}

/** What a stop did. `abandoned`: settlements the store did not confirm in time; those leases end by themselves. */
export interface StopReport {
  readonly finished: number;
  readonly released: number;
  readonly abandoned: number;
}

/** Works off queues. */
export interface Worker extends AsyncDisposable {
  /**
   * Connects and begins. Rejects for what waiting cannot mend (options, versions, schema, rights); a store that is merely away does not
   * reject: the worker goes on trying, and `health` says so.
   */
  start(): Promise<void>;
  /**
   * Takes no more jobs, hands back what is held, lets running handlers finish within `drain` (30 s), aborts them, waits the grace, hands
   * back the rest unharmed. Bounded: drain + grace + a second or two, also while the store is away.
   */
  stop(options?: { readonly drain?: Duration; readonly grace?: Duration }): Promise<StopReport>;
  health(): WorkerHealth;
  /** Adds a listener; the answer removes it. A listener that throws harms nobody. */
  on<Name extends keyof WorkerEvents>(
    name: Name,
    listener: (event: WorkerEvents[Name]) => unknown,
  ): () => void;
}

/** Makes a worker. Throws OPTIONS_INVALID, JOB_DEFINED_TWICE, LIMIT_EXCEEDED, CAPABILITY_MISSING. */
export function createWorker<C extends Capabilities>(options: WorkerOptions<C>): Worker {
  return new QueueWorker(workerSettings(options as unknown as WorkerOptions));
}

/** How long the last settlements of a stop may take while the store answers, and while it does not. */
const FLUSH_MS = 2000;
const FLUSH_AWAY_MS = 500;
const NOTHING: StopReport = Object.freeze({ finished: 0, released: 0, abandoned: 0 });

class QueueWorker implements Worker {
  readonly #settings: WorkerSettings;
  readonly #bus: EventBus<WorkerEvents>;
  #state: WorkerState = 'new';
  #engine: Engine | null = null;
  #hold: BackendHold | null = null;
  #log: AttemptLog | null = null;
  #client: Client | null = null;
  #calls: GuardedCalls | null = null;
  #trace: TraceUse | null = null;
  #openRetry: NodeJS.Timeout | null = null;
  #openReason: string | null = null;
  #watch: NodeJS.Timeout | null = null;
  #stopping: Promise<StopReport> | null = null;
  #removeSignals: () => void = () => undefined;

  constructor(settings: WorkerSettings) {
    this.#settings = settings;
    this.#bus = new EventBus((name, error) =>
      this.#log?.say((logger) => logger.error({ event: name, error: messageOf(error) }, 'a listener threw')),
    );
  }

  on<Name extends keyof WorkerEvents>(
    name: Name,
    listener: (event: WorkerEvents[Name]) => unknown,
  ): () => void {
    return this.#bus.on(name, listener);
  }

  async start(): Promise<void> {
    if (this.#state !== 'new' && this.#state !== 'stopped') {
      throw new SuretyError('OPTIONS_INVALID', `The worker is ${this.#state}.`, {
        remedy: 'Start it once, or again after stop().',
      });
    }
    const { backend, requires, log, logger, onDead, handlers } = this.#settings;
    this.#trace = useTrace(this.#settings.trace);
    const trace = this.#trace?.trace ?? null;
    this.#setState('starting');
    this.#log = attemptLog(log, logger);
    const reporter = new Reporter(this.#bus, this.#log, onDead);
    const heard = (notice: Notice): void => {
      if (trace !== null) recordNotice(trace, notice);
      reporter.notice(notice);
      this.#engine?.keeper.heard(notice);
    };
    this.#hold = holdBackend(backend, heard, requires);
    this.#client = createClient({ backend, ...(trace === null ? {} : { trace }) });
    const client = this.#client;
    this.#calls = guardedCalls(trace === null ? backend : traced(backend, trace));
    this.#engine = new Engine(this.#settings, this.#calls, this.#bus, reporter, {
      logFor: (attempt) => this.#logFor(attempt),
      enqueue: (job, input, options) => client.enqueue(job, input, options),
      trace: trace === null ? null : attemptTrace(trace, handlers.values()),
    });
    if (this.#settings.signals) this.#listenForSignals();
    await this.#open(this.#engine, this.#hold, reporter, new PauseAfterFailure());
  }

  stop(options: { readonly drain?: Duration; readonly grace?: Duration } = {}): Promise<StopReport> {
    assertKnownOptions('stop', options, ['drain', 'grace']);
    const drainMs = durationMs('drain', options.drain ?? 30_000, 0, 86_400_000);
    const graceMs = durationMs('grace', options.grace ?? this.#settings.graceMs, 0, 86_400_000);
    if (this.#stopping !== null) return this.#stopping;
    if (this.#state === 'new' || this.#state === 'stopped') return Promise.resolve(NOTHING);
    this.#stopping = this.#stop(drainMs, graceMs).finally(() => {
      this.#stopping = null;
    });
    return this.#stopping;
  }

  health(): WorkerHealth {
    const now = performance.now();
    const engine = this.#engine;
    const ago = (at: number | null | undefined): number | null =>
      at === null || at === undefined ? null : Math.round(now - at);
    const reason = this.#unhealthyReason(now);
    return {
      ok: reason === null,
      state: this.#state,
      lastClaimOkAgoMs: ago(engine?.lastClaimOkAt),
      lastRenewOkAgoMs: ago(engine?.keeper.lastOkAt),
      running: engine?.running ?? 0,
      reason,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #unhealthyReason(now: number): string | null {
    if (this.#state !== 'running') return this.#openReason ?? `the worker is ${this.#state}`;
    const engine = this.#engine;
    if (engine === null) return 'the worker has not started';
    if (engine.keeper.isBlocked(now))
      return 'leases cannot be renewed; nothing is claimed until a renewal succeeds';
    const { troubles } = engine.reporter;
    return troubles.length === 0 ? null : `failing: ${troubles.join(', ')}`;
  }

  async #open(
    engine: Engine,
    hold: BackendHold,
    reporter: Reporter,
    pause: PauseAfterFailure,
  ): Promise<void> {
    try {
      await hold.ready(this.#settings.timeoutMs);
    } catch (error) {
      if (!this.#isStarting(engine)) return;
      if (!isSuretyError(error) || error.retryable === 'no') return this.#refuse(error, reporter);
      this.#openReason = error.message;
      reporter.trouble('open', error);
      this.#openRetry = setTimeout(() => {
        // A refusal that comes late is in the log and in `health`; nobody waits for start() any more.
        this.#open(engine, hold, reporter, pause).catch(() => undefined);
      }, pause.failed());
      return;
    }
    if (!this.#isStarting(engine)) return;
    this.#openReason = null;
    reporter.recovered('open');
    this.#setState('running');
    engine.begin();
    this.#watchAge(engine);
  }

  /** Also false for an opening of an earlier start that ends only now: it must not begin a second poller. */
  #isStarting(engine: Engine): boolean {
    return this.#state === 'starting' && this.#engine === engine;
  }

  async #refuse(error: unknown, reporter: Reporter): Promise<void> {
    this.#openReason = messageOf(error);
    reporter.trouble('open', error);
    await this.#letGo();
    throw error;
  }

  async #stop(drainMs: number, graceMs: number): Promise<StopReport> {
    const wasRunning = this.#state === 'running';
    this.#setState('stopping');
    const engine = this.#engine;
    let report = NOTHING;
    if (engine !== null && wasRunning) report = await this.#drain(engine, drainMs, graceMs);
    await this.#letGo();
    return report;
  }

  async #drain(engine: Engine, drainMs: number, graceMs: number): Promise<StopReport> {
    const { finished, released } = engine.fates;
    engine.stopClaiming();
    const drained = await waitUntil(() => engine.active === 0, drainMs);
    if (!drained) {
      engine.abortRunning();
      await waitUntil(() => engine.active === 0, graceMs);
      engine.releaseRunning();
    }
    const flushAt = performance.now();
    const isAway = (): boolean => engine.isFailing && performance.now() - flushAt > FLUSH_AWAY_MS;
    await waitUntil(() => engine.unsettled === 0 || isAway(), FLUSH_MS);
    const abandoned = engine.end();
    return {
      finished: engine.fates.finished - finished,
      released: engine.fates.released - released,
      abandoned,
    };
  }

  async #letGo(): Promise<void> {
    this.#removeSignals();
    if (this.#openRetry !== null) clearTimeout(this.#openRetry);
    if (this.#watch !== null) clearInterval(this.#watch);
    this.#openRetry = null;
    this.#watch = null;
    this.#engine?.end();
    const graceMs = this.#settings.backend.capabilities.stopBoundMs;
    // A child's enqueue under way has its own, longer limit; whoever awaits it learns its end all the same.
    await Promise.race([this.#client?.close(), delay(FLUSH_AWAY_MS, undefined, { ref: false })]);
    const fault = await this.#hold?.release(graceMs);
    if (fault instanceof Error)
      this.#log?.say((logger) => logger.warn({ error: fault.message }, 'the backend did not close cleanly'));
    this.#trace?.end();
    this.#trace = null;
    this.#log?.close();
    this.#hold = null;
    this.#client = null;
    this.#setState('stopped');
  }

  #watchAge(engine: Engine): void {
    const { alert, queues, timeoutMs, backend } = this.#settings;
    if (alert === null || this.#calls === null) return;
    const blind = blindness(backend);
    if (blind !== null) engine.reporter.notice(blind);
    const watch = new AgeWatch(this.#calls, alert.limitMs, (change) => this.#bus.emit('age-alert', change));
    this.#watch = watch.every(alert.everyMs, queues, timeoutMs, engine.reporter);
  }

  #logFor(attempt: Attempt): Logger {
    const { id, type, queue, attempt: number } = attempt.lease;
    const logger = this.#log?.logger;
    if (logger === undefined) throw new SuretyError('BACKEND_CLOSED', 'The worker was stopped.');
    return logger.child({ jobId: id, type, queue, attempt: number });
  }

  /** The first signal stops in order; a second one finds no listener and ends the process as it always would. */
  #listenForSignals(): void {
    const stop = (): void => {
      this.#removeSignals();
      void this.stop();
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    this.#removeSignals = () => {
      process.off('SIGTERM', stop);
      process.off('SIGINT', stop);
    };
  }

  #setState(state: WorkerState): void {
    this.#state = state;
    this.#bus.emit('state', { state });
  }
}
