const FIRST_MS = 200;
/** Long enough that an outage costs a dozen calls in half a minute, short enough that a store that is back is seen in seconds. */
const LONGEST_MS = 5000;

/** Spacing of calls to a store that fails: doubling with jitter, reset by the first success (G9.5). */
export class PauseAfterFailure {
  readonly #random: () => number;
  #failures = 0;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** Counts a failure; the answer is how long to wait before the next call, in ms. */
  failed(): number {
    const plain = Math.min(FIRST_MS * 2 ** Math.min(this.#failures, 16), LONGEST_MS);
    this.#failures += 1;
    return Math.round(plain * (0.75 + this.#random() / 2));
  }

  succeeded(): boolean {
    const recovered = this.#failures > 0;
    this.#failures = 0;
    return recovered;
  }

  get failures(): number {
    return this.#failures;
  }
}
