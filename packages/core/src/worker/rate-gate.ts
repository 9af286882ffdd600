const LONGEST_WAIT_MS = 60_000;
/** A claim may wait for jobs: what took longer than this was no way to the store, and so much is not held ahead. */
const LONGEST_CLAIM_MS = 1000;
/** Weight of the newest claim in the running mean. */
const WEIGHT = 0.2;

/**
 * A token bucket over starts (G9.4). It holds at most a tenth of a second's worth (at least one), so that after a pause the
 * downstream sees the rate and not a burst of what was saved up.
 */
export class RateGate {
  readonly #perMs: number;
  readonly #capacity: number;
  #tokens: number;
  #at: number;
  #claimMs = 0;

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

  /** A claim has brought jobs `ms` after it was sent. */
  claimTook(ms: number): void {
    const most = Math.min(ms, LONGEST_CLAIM_MS);
    this.#claimMs = this.#claimMs === 0 ? most : this.#claimMs + (most - this.#claimMs) * WEIGHT;
  }

  /** How much longer a job may be held because of what `possible` allows. */
  get aheadMs(): number {
    return 2 * this.#claimMs;
  }

  /**
   * Starts that are possible until a claim that is sent now and the one after it have been answered, and `withinMs` more: what is worth having in
   * hand. With less a store that answers slowly would keep the worker below its rate.
   */
  possible(now: number, withinMs: number): number {
    this.#refill(now);
    return Math.floor(this.#tokens + (this.aheadMs + withinMs) * this.#perMs);
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
