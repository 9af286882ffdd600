const LONGEST_WAIT_MS = 60_000;

/**
 * A token bucket over starts (G9.4). It holds at most a tenth of a second's worth (at least one), so that after a pause the
 * downstream sees the rate and not a burst of what was saved up.
 */
export class RateGate {
  readonly #perMs: number;
  readonly #capacity: number;
  #tokens: number;
  #at: number;

  constructor(perSecond: number, now: number) {
    this.#perMs = perSecond / 1000;
    this.#capacity = Math.max(1, perSecond / 10);
    this.#tokens = 1;
    this.#at = now;
  }

  /** Takes one token if there is one. */
  take(now: number): boolean {
    this.#refill(now);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Starts that are possible within `withinMs`: what is worth claiming now. */
  possible(now: number, withinMs: number): number {
    this.#refill(now);
    return Math.floor(this.#tokens + withinMs * this.#perMs);
  }

  /** Ms until the next token, or until it is worth looking again: a timer holds no more than 2^31 ms. */
  waitMs(now: number): number {
    this.#refill(now);
    return this.#tokens >= 1 ? 0 : Math.min(LONGEST_WAIT_MS, Math.ceil((1 - this.#tokens) / this.#perMs));
  }

  #refill(now: number): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + (now - this.#at) * this.#perMs);
    this.#at = now;
  }
}
