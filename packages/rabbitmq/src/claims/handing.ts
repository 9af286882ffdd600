import type { Message } from 'amqplib';
import type { Arrivals } from './arrivals.ts';
import type { Waiters } from './waiters.ts';

/** For so long after an acknowledgement jobs end one after the other, and what comes is worth gathering. */
const BUSY_MS = 5;

/** Gives what has arrived to the claims that wait: in good numbers to a worker that is busy, at once to one that is idle. */
export class Handing {
  readonly #arrivals: Arrivals;
  readonly #waiters: Waiters;
  readonly #idle: () => void;
  #ackedAt = Number.NEGATIVE_INFINITY;

  /** `idle`: something is here, and nobody waits for it. */
  constructor(arrivals: Arrivals, waiters: Waiters, idle: () => void) {
    this.#arrivals = arrivals;
    this.#waiters = waiters;
    this.#idle = idle;
  }

  /** Jobs have ended. */
  acknowledged(): void {
    this.#ackedAt = performance.now();
  }

  arrived(): void {
    const waiter = this.#waiters.first;
    if (waiter === undefined) return this.#idle();
    if (!this.#isBusy()) return this.hand();
    void this.#arrivals.gather(waiter.max, waiter.max).then((messages) => {
      // Whoever waits by now.
      this.#arrivals.putBack(messages);
      this.hand();
    });
  }

  hand(): void {
    while (this.#arrivals.count > 0) {
      const waiter = this.#waiters.first;
      if (waiter === undefined) return this.#idle();
      waiter.end({ messages: this.#arrivals.take(waiter.max), paused: false });
    }
  }

  /** For a claim that finds something here. */
  async take(max: number): Promise<Message[]> {
    const messages = this.#isBusy() ? await this.#arrivals.gather(max, max) : this.#arrivals.take(max);
    this.hand();
    return messages;
  }

  #isBusy(): boolean {
    return performance.now() - this.#ackedAt < BUSY_MS;
  }
}
