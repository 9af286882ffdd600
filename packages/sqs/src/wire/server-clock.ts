/** The header that tells the time has whole seconds. */
const SECOND_MS = 1000;
/** Readings that contradict each other by more than this say that one of the clocks was set. */
const TOLERANCE_MS = 50;

/**
 * The wall clock of the service, against the monotonic clock of this process. Every answer tells it to the second; many answers together to a few
 * milliseconds, because each leaves only a part of the second open.
 */
export class ServerClock {
  /** The clock of the service minus `performance.now()` is in between. */
  #low = Number.NEGATIVE_INFINITY;
  #high = Number.POSITIVE_INFINITY;
  /** Some answer told an instant to the millisecond. */
  #isSharp = false;

  /** The service wrote this second into an answer to a request that was sent and read then (`performance.now()`). */
  heardSecond(dateMs: number, sentAt: number, readAt: number): void {
    const low = dateMs - readAt;
    const high = dateMs + SECOND_MS - sentAt;
    if (low > this.#high + TOLERANCE_MS || high < this.#low - TOLERANCE_MS) {
      this.#low = low;
      this.#high = high;
      this.#isSharp = false;
      return;
    }
    this.#low = Math.max(this.#low, Math.min(low, this.#high));
    this.#high = Math.min(this.#high, Math.max(high, this.#low));
  }

  /** The service noted this instant before its answer was read. */
  heardInstant(ms: number, readAt: number): void {
    const low = ms - readAt;
    this.#isSharp = true;
    if (low > this.#low && low <= this.#high) this.#low = low;
  }

  /** It is at least this late there. Before the first answer the clock of this machine has to do. */
  earliest(): number {
    return Number.isFinite(this.#low) ? performance.now() + this.#low : Date.now();
  }

  likely(): number {
    if (!Number.isFinite(this.#low) || !Number.isFinite(this.#high)) return Date.now();
    return performance.now() + (this.#isSharp ? this.#low : (this.#low + this.#high) / 2);
  }
}
