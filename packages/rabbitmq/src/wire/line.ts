import { type Call, closedError, failure, LATE, within } from '../call.ts';
import { fromNative } from '../native-errors.ts';
import type { Wire } from './open-wire.ts';

/** What a line tells its backend. */
export interface LineEvents {
  /** A connection stands; what belongs on it is made before anybody gets it. Rejects: it is not to be used. */
  readonly up: (wire: Wire) => Promise<void>;
  /** It was lost, or could not be had. */
  readonly down: (error: unknown) => void;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 3000;

/** A way to the broker that is made when it is first needed, and again, with growing pauses, whenever it is lost. */
export class Line {
  readonly #open: () => Promise<Wire>;
  readonly #events: LineEvents;
  #wire: Wire | null = null;
  #connecting: Promise<Wire> | null = null;
  #failures = 0;
  #nextTryAt = 0;
  #lastError: unknown = null;
  #retry: NodeJS.Timeout | null = null;
  #isKept = false;
  #closed = false;

  constructor(open: () => Promise<Wire>, events: LineEvents) {
    this.#open = open;
    this.#events = events;
  }

  /** The connection that stands, if one does. */
  get wire(): Wire | null {
    return this.#wire;
  }

  /** From here on a lost connection is made again although nobody asks. */
  keep(): void {
    this.#isKept = true;
  }

  /** One try now; throws what the broker or the system says. */
  async first(call: Call): Promise<Wire> {
    const made = await within(this.#connect(), call.deadline);
    if (made === LATE) throw this.#away(call);
    return made;
  }

  /** A connection that stands; made now if need be. Throws in time: nothing was sent then. */
  async get(call: Call): Promise<Wire> {
    for (;;) {
      if (this.#closed) throw closedError(call.operation);
      if (this.#wire !== null) return this.#wire;
      const pauseMs = this.#connecting === null ? this.#nextTryAt - performance.now() : 0;
      if (performance.now() + Math.max(0, pauseMs) >= call.deadline) throw this.#away(call);
      if (pauseMs > 0) {
        await new Promise((resolve) => setTimeout(resolve, Math.min(pauseMs, FIRST_PAUSE_MS)));
        continue;
      }
      const made = await within(this.#connect(), call.deadline).catch(() => null);
      if (made === LATE) throw this.#away(call);
    }
  }

  async close(deadline: number): Promise<void> {
    this.#closed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    const wire =
      this.#wire ?? (await within(this.#connecting ?? Promise.resolve(null), deadline).catch(() => null));
    if (wire === LATE) void this.#connecting?.then((late) => late.destroy('closed')).catch(() => undefined);
    else await wire?.close(deadline);
  }

  #connect(): Promise<Wire> {
    this.#connecting ??= this.#make().finally(() => {
      this.#connecting = null;
    });
    return this.#connecting;
  }

  async #make(): Promise<Wire> {
    let wire: Wire | null = null;
    try {
      wire = await this.#open();
      if (this.#closed) throw closedError('open');
      await this.#events.up(wire);
      if (this.#closed || !wire.isOpen)
        throw failure('BACKEND_UNAVAILABLE', 'The connection was lost.', 'open');
    } catch (error) {
      wire?.destroy('it cannot be used');
      this.#failed(error);
      throw error;
    }
    const made = wire;
    this.#wire = made;
    this.#failures = 0;
    this.#lastError = null;
    made.onEnd((reason) => {
      if (this.#wire === made) this.#wire = null;
      this.#failed(reason);
    });
    return made;
  }

  #failed(error: unknown): void {
    if (this.#closed) return;
    this.#lastError = error;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS);
    this.#failures += 1;
    // Jittered, so that a fleet that lost its broker does not come back in step.
    this.#nextTryAt = performance.now() + pauseMs * (0.5 + Math.random());
    this.#events.down(error);
    if (!this.#isKept || this.#retry !== null) return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      if (this.#wire === null && !this.#closed) void this.#connect().catch(() => undefined);
    }, this.#nextTryAt - performance.now());
  }

  /** Nothing was sent: there is no connection. Says why, as the last try did. */
  #away(call: Call): Error {
    const cause = this.#lastError;
    if (cause === null)
      return failure('BACKEND_UNAVAILABLE', 'RabbitMQ cannot be reached in time.', call.operation);
    const error = fromNative(cause, call.operation);
    if (error.code !== 'INTERNAL' && error.code !== 'BACKEND_CLOSED') return error;
    return failure('BACKEND_UNAVAILABLE', 'RabbitMQ cannot be reached.', call.operation, { cause });
  }
}
