import type { Logger } from 'pino';
import type { JobDefinition } from '../definition/define-job.ts';
import type { Duration } from '../options/duration.ts';
import type { AnyEnqueueOptions } from '../producer/enqueue-options.ts';
import type { EnqueueResult } from '../producer/enqueue-result.ts';
import type { AttemptTrace } from '../trace/attempt-trace.ts';
import type { Attempt } from './attempt.ts';
import { bury, cancel, type HandlerOutcome, snooze } from './outcome.ts';

/** What a handler gets beside its input. Its functions need no `this`, so that a handler may take them out of it. */
export interface JobContext {
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  /** 1 for the first start since enqueue or redrive. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** A failure of this attempt is final. */
  readonly lastAttempt: boolean;
  readonly deliveries: number;
  readonly redrives: number;
  /** The same over attempts, redelivery and redrive: key your effect by it (G3). */
  readonly idempotencyKey: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts with a reason whose `kind` is `timeout`, `lease-lost` or `shutdown`. Hand it to what you await. */
  readonly signal: AbortSignal;
  /** Bound to job and attempt. */
  readonly log: Logger;
  /**
   * Notes in the worker's trace that something outside is about to be done, so that a checker can tell what was done twice or too late.
   * Call it just before. Without a trace it does nothing.
   */
  effect(this: void, name: string): void;
  /** Enqueues a child on the worker's own backend. */
  enqueue<Input>(
    this: void,
    job: JobDefinition<Input, unknown>,
    input: NoInfer<Input>,
    options?: AnyEnqueueOptions,
  ): Promise<EnqueueResult>;
  /** Return it: the job is put back, refunded, and due again after `delay`; unlimited until it expires. */
  snooze(this: void, delay: Duration): HandlerOutcome;
  /** Return it: the job ends without a dead letter. */
  cancel(this: void, reason: string): HandlerOutcome;
  /** Return it: the job goes to the dead letters now. */
  bury(this: void, reason: string): HandlerOutcome;
}

/** The context of a handler made by `handleFenced`. */
export interface FencedContext extends JobContext {
  /** Grows with every claim of this job: a downstream store can refuse a smaller one. */
  readonly fence: number;
}

/** What the context needs of its worker. */
export interface ContextServices {
  readonly logFor: (attempt: Attempt) => Logger;
  readonly enqueue: JobContext['enqueue'];
  readonly trace: AttemptTrace | null;
}

/** Reads through to the attempt: building one costs two fields. */
export class AttemptContext implements FencedContext {
  readonly #attempt: Attempt;
  readonly #services: ContextServices;
  readonly maxAttempts: number;

  constructor(attempt: Attempt, maxAttempts: number, services: ContextServices) {
    this.#attempt = attempt;
    this.#services = services;
    this.maxAttempts = maxAttempts;
  }

  get id(): string {
    return this.#attempt.lease.id;
  }
  get type(): string {
    return this.#attempt.lease.type;
  }
  get queue(): string {
    return this.#attempt.lease.queue;
  }
  get attempt(): number {
    return this.#attempt.lease.attempt;
  }
  get lastAttempt(): boolean {
    return this.#attempt.lease.attempt >= this.maxAttempts;
  }
  get deliveries(): number {
    return this.#attempt.lease.deliveries;
  }
  get redrives(): number {
    return this.#attempt.lease.redrives;
  }
  get idempotencyKey(): string {
    return this.#attempt.lease.idempotencyKey;
  }
  get headers(): Readonly<Record<string, string>> {
    return this.#attempt.lease.headers;
  }
  get fence(): number {
    return this.#attempt.lease.token.fence;
  }
  get signal(): AbortSignal {
    // A handler that blocked the event loop past its lease learns of it here, before any timer could run.
    if (this.#attempt.group.isOver(performance.now()))
      this.#attempt.abort('lease-lost', 'the lease has ended');
    return this.#attempt.signal;
  }
  get log(): Logger {
    return this.#services.logFor(this.#attempt);
  }

  get effect(): JobContext['effect'] {
    const { trace } = this.#services;
    const { lease } = this.#attempt;
    return (name) => trace?.effect(lease, name);
  }
  get enqueue(): JobContext['enqueue'] {
    return this.#services.enqueue;
  }
  snooze(delay: Duration): HandlerOutcome {
    return snooze(delay);
  }
  cancel(reason: string): HandlerOutcome {
    return cancel(reason);
  }
  bury(reason: string): HandlerOutcome {
    return bury(reason);
  }
}
