import type { Notice } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import type { Operation } from './store/fault-controls.ts';
import { newSession, type Session } from './store/session.ts';
import type { Store } from './store/store.ts';

/** Name of the adapter in errors. */
export const ADAPTER = 'memory';

/** No timer of Node is longer. */
const LONGEST_MS = 2 ** 31 - 1;

/** One call on its way to the store. */
export interface Call {
  readonly operation: Operation;
  /** `performance.now()` at which its time is over. */
  readonly deadline: number;
  readonly signal: AbortSignal | null;
}

/** Why no answer came. `acted`: the store may have done it. */
export class NoAnswer extends Error {
  readonly reason: SuretyError;
  readonly acted: boolean;

  constructor(reason: SuretyError, acted: boolean) {
    super(reason.message);
    this.reason = reason;
    this.acted = acted;
  }
}

/** How a call is answered when no answer came; where one is left out the reason is thrown. */
export interface Fallbacks<T> {
  readonly unknown?: (error: SuretyError) => T;
  readonly refused?: (error: SuretyError) => T;
}

/** One backend's way to the store, with all that can befall it. */
export class Connection {
  readonly id: number;
  readonly store: Store;
  session: Session = newSession();
  isolated = false;
  delayMs = 0;
  lastClaimOk: number | null = null;
  lastRenewOk: number | null = null;

  #state: 'new' | 'open' | 'closed' = 'new';
  #notify: (notice: Notice) => void = () => undefined;
  #degraded: string | null = null;
  readonly #stalled = new Set<() => void>();

  constructor(store: Store) {
    this.store = store;
    this.id = store.next();
  }

  get closed(): boolean {
    return this.#state === 'closed';
  }

  /** Why the backend is not well; null: it is. */
  get trouble(): string | null {
    if (this.#state === 'new') return 'The backend was not opened.';
    if (this.#state === 'closed') return 'The backend was closed.';
    return this.#degraded;
  }

  /** Whether requests get through now. */
  get reachable(): boolean {
    return this.store.mode === 'up' && !this.isolated && this.session.line !== 'silent';
  }

  async open(timeoutMs: number, notify: (notice: Notice) => void): Promise<void> {
    const before = this.#state;
    // Opened again after a close: a new connection, that knows nothing of the leases of the old one.
    if (this.closed) this.session = newSession();
    this.#state = 'open';
    this.#notify = notify;
    try {
      await this.call('open', timeoutMs, () => undefined);
      this.store.connections.add(this);
    } catch (error) {
      if (!this.closed) this.#state = before;
      throw error;
    }
  }

  close(): void {
    if (this.closed) return;
    this.#state = 'closed';
    this.store.connections.delete(this);
    this.#endSession();
    this.changed();
    this.store.touchedAll();
  }

  /** Sends a request, lets the store act, brings the answer back. The store acts before the first await when all is well. */
  async call<T>(
    operation: Operation,
    timeoutMs: number,
    act: () => T,
    fallbacks: Fallbacks<T> = {},
  ): Promise<T> {
    const call: Call = { operation, deadline: performance.now() + timeoutMs, signal: null };
    try {
      this.begin(call);
      if (!this.reachable) await this.arrive(call);
      const session = this.session;
      const value = act();
      await this.answered(call, session);
      return value;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      const fallback = error.acted ? fallbacks.unknown : fallbacks.refused;
      if (fallback === undefined) throw error.reason;
      return fallback(error.reason);
    }
  }

  begin(call: Call): void {
    if (this.#state === 'new') {
      throw failure('BACKEND_CLOSED', 'The backend was not opened.', call.operation, 'Call open first.');
    }
    if (this.closed) throw failure('BACKEND_CLOSED', 'The backend was closed.', call.operation);
    this.store.faults.throwPlanted(call.operation);
  }

  /** Resolves once the request is with the store, or the signal has aborted. Throws {@link NoAnswer}. */
  async arrive(call: Call): Promise<void> {
    while (!this.reachable) {
      if (call.signal?.aborted === true) return;
      const session = this.session;
      // Over a connection that never stood nothing can have been sent.
      const sent = session.established;
      if (this.store.mode === 'refused') throw this.#away(call, false);
      const ended = await this.stall(call, call.deadline);
      if (this.closed) throw failure('BACKEND_CLOSED', 'The backend was closed.', call.operation);
      if (session.broken) throw this.#away(call, sent);
      if (ended === 'time') throw this.timedOut(call, sent);
    }
  }

  /** Brings the answer of what the store did over `session` back. Throws {@link NoAnswer}. */
  async answered(call: Call, session: Session): Promise<void> {
    const { faults } = this.store;
    if (this.delayMs > 0) {
      const arrival = performance.now() + this.delayMs;
      await this.stall(call, Math.min(call.deadline, arrival), true);
      if (arrival > call.deadline) throw this.timedOut(call, true);
    }
    if (faults.takeLostAnswer(call.operation)) {
      faults.note('answer-lost', { operation: call.operation, acted: true });
      this.breakSession('The connection broke before the answer came.');
      throw this.#away(call, true);
    }
    while (!session.broken && (session.line !== 'up' || this.isolated || this.store.mode === 'frozen')) {
      const ended = await this.stall(call, call.deadline);
      if (ended === 'time') {
        faults.note('answer-lost', { operation: call.operation, acted: true });
        throw this.timedOut(call, true);
      }
      if (call.signal?.aborted === true) throw this.#away(call, true);
    }
    if (this.closed) {
      const closed = failure(
        'BACKEND_CLOSED',
        'The backend was closed before the answer came.',
        call.operation,
      );
      throw new NoAnswer(closed, true);
    }
    if (session.broken) throw this.#away(call, true);
    session.established = true;
    this.#recovered();
  }

  /** Waits for a change of the connection, the end of the time, or the signal. `deaf`: for the time only. */
  stall(call: Call, until: number, deaf = false): Promise<'changed' | 'time'> {
    return new Promise((resolve) => {
      const end = (how: 'changed' | 'time'): void => {
        clearTimeout(timer);
        this.#stalled.delete(wake);
        call.signal?.removeEventListener('abort', wake);
        resolve(how);
      };
      const wake = (): void => end('changed');
      const timer = setTimeout(
        () => end('time'),
        Math.min(LONGEST_MS, Math.max(0, Math.ceil(until - performance.now()))),
      );
      if (deaf) return;
      this.#stalled.add(wake);
      call.signal?.addEventListener('abort', wake, { once: true });
    });
  }

  /** Lets calls that hang look at the connection again. */
  changed(): void {
    for (const wake of this.#stalled) wake();
  }

  /** The standing connection is gone; the next call makes a new one. */
  breakSession(why: string): void {
    this.#endSession();
    this.#degrade(why);
    this.changed();
    this.store.touchedAll();
  }

  /** A call ran into its time limit: the connection is not to be trusted any more. */
  timedOut(call: Call, sent: boolean): NoAnswer {
    this.breakSession('The store did not answer in time.');
    if (!sent) return this.#away(call, false);
    const details = { adapter: ADAPTER, operation: call.operation, retryable: 'unknown' as const };
    return new NoAnswer(
      new SuretyError('BACKEND_TIMEOUT', 'The store did not answer in time; it may have acted.', details),
      true,
    );
  }

  #away(call: Call, acted: boolean): NoAnswer {
    const what = acted ? 'The connection broke before the answer came.' : 'The store cannot be reached.';
    this.#degrade(what);
    const retryable = acted ? ('unknown' as const) : ('yes' as const);
    const details = { adapter: ADAPTER, operation: call.operation, retryable };
    return new NoAnswer(new SuretyError('BACKEND_UNAVAILABLE', what, details), acted);
  }

  #endSession(): void {
    const old = this.session;
    old.broken = true;
    this.session = newSession();
    if (!this.store.weak) return;
    const now = this.store.clock.now();
    for (const copy of old.held) {
      const queue = this.store.queue(copy.job.queue);
      // Looking at the queue may have ended the lease by time already.
      if (copy.lease?.session === old) queue.lose(copy, now);
    }
  }

  #degrade(reason: string): void {
    const first = this.#degraded === null;
    this.#degraded = reason;
    if (first && this.#state === 'open') this.#notify({ kind: 'degraded', reason, error: null });
  }

  #recovered(): void {
    if (this.#degraded === null) return;
    this.#degraded = null;
    this.#notify({ kind: 'recovered', reason: 'The store answers again.' });
  }
}

function failure(code: 'BACKEND_CLOSED', what: string, operation: Operation, remedy?: string): SuretyError {
  const details = { adapter: ADAPTER, operation };
  return new SuretyError(code, what, remedy === undefined ? details : { ...details, remedy });
}
