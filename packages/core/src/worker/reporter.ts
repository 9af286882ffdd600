import type { Logger } from 'pino';
import type { Notice } from '../contract/index.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { AttemptEvent, AttemptOutcome, WorkerEvents } from '../events/worker-events.ts';
import type { AttemptLog } from '../logging/attempt-log.ts';
import type { Attempt } from './attempt.ts';
import { codeOf, messageOf } from './describe-error.ts';

/** Tells the world: events, log lines, `onDead`. Repeated failures of the store make one line, not one a call. Never throws. */
export class Reporter {
  readonly #bus: EventBus<WorkerEvents>;
  readonly #log: AttemptLog;
  readonly #onDead: ((event: AttemptEvent) => unknown) | null;
  readonly #troubles = new Set<string>();

  constructor(
    bus: EventBus<WorkerEvents>,
    log: AttemptLog,
    onDead: ((event: AttemptEvent) => unknown) | null,
  ) {
    this.#bus = bus;
    this.#log = log;
    this.#onDead = onDead;
  }

  started(attempt: Attempt): void {
    if (!this.#bus.heard('started')) return;
    const { id, type, queue, attempt: number } = attempt.lease;
    this.#bus.emit('started', { jobId: id, type, queue, attempt: number });
  }

  /** The fate of an attempt is known. Jobs put back before they ever started are no attempts. */
  ended(attempt: Attempt, outcome: AttemptOutcome): void {
    if (attempt.startedAt === 0 && outcome !== 'dead' && attempt.error === null) return;
    if (outcome !== 'dead' && !this.#log.wants(outcome) && !this.#bus.heard('attempt')) return;
    const event = eventOf(attempt, outcome);
    this.#log.attempt(event);
    this.#bus.emit('attempt', event);
    if (outcome !== 'dead') return;
    this.#bus.emit('dead', event);
    if (this.#onDead !== null) this.#callOnDead(this.#onDead, event);
  }

  leaseLost(attempt: Attempt, reason: string, loopBlockedMs: number): void {
    const { id, type, queue, attempt: number } = attempt.lease;
    const why = loopBlockedMs > 0 ? `${reason}; the event loop was blocked for ${loopBlockedMs} ms` : reason;
    this.#bus.emit('lease-lost', { jobId: id, type, queue, attempt: number, reason: why, loopBlockedMs });
  }

  zombie(attempt: Attempt, state: 'running' | 'ended' | 'given-up'): void {
    const { id, type, queue } = attempt.lease;
    this.#bus.emit('zombie', { jobId: id, type, queue, state });
    if (state !== 'ended')
      this.#say('warn', { jobId: id, type, queue, state }, 'handler goes on after its job was settled');
  }

  /** A call failed. The first of its kind is told; the rest until it recovers are the same story. */
  trouble(what: string, error: unknown): void {
    if (this.#troubles.has(what)) return;
    this.#troubles.add(what);
    const message = messageOf(error);
    const code = codeOf(error);
    this.#bus.emit('degraded', { reason: `${what}: ${message}`, code });
    this.#say('warn', { what, code, error: message }, 'store trouble');
  }

  recovered(what: string): void {
    if (!this.#troubles.delete(what)) return;
    this.#bus.emit('recovered', { reason: what });
    this.#say('info', { what }, 'store recovered');
  }

  /** What the adapter reports by itself: adapters do not log. */
  notice(notice: Notice): void {
    this.#bus.emit('notice', notice);
    const { kind, ...facts } = notice;
    const error = 'error' in facts && facts.error !== null ? messageOf(facts.error) : undefined;
    this.#say(kind === 'recovered' ? 'info' : 'warn', { kind, ...facts, error }, 'store notice');
  }

  get troubles(): readonly string[] {
    return [...this.#troubles];
  }

  #callOnDead(onDead: (event: AttemptEvent) => unknown, event: AttemptEvent): void {
    const fault = (error: unknown): void =>
      this.#say('error', { jobId: event.jobId, error: messageOf(error) }, 'onDead threw');
    try {
      const answer = onDead(event);
      if (answer instanceof Promise) answer.catch(fault);
    } catch (error) {
      fault(error);
    }
  }

  #say(level: 'info' | 'warn' | 'error', facts: object, what: string): void {
    this.#log.say((logger: Logger) => logger[level](facts, what));
  }
}

function eventOf(attempt: Attempt, outcome: AttemptOutcome): AttemptEvent {
  const { lease, error } = attempt;
  const endedAt = attempt.endedAt === 0 ? performance.now() : attempt.endedAt;
  return {
    jobId: lease.id,
    type: lease.type,
    queue: lease.queue,
    attempt: lease.attempt,
    outcome,
    durationMs: attempt.startedAt === 0 ? null : endedAt - attempt.startedAt,
    waitMs: lease.waitedMs,
    errorClass: error?.name ?? null,
    code: error?.code ?? null,
    message: error?.message ?? attempt.reason,
  };
}
