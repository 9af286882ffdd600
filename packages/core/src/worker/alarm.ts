/** One timer for the earliest of what is waited for. */
export class Alarm {
  readonly #ring: () => void;
  #timer: NodeJS.Timeout | null = null;
  #at = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor(ring: () => void) {
    this.#ring = ring;
  }

  /** Rings at `at` by `performance.now()`, unless it rings earlier anyway. */
  setFor(at: number): void {
    if (this.#closed || at >= this.#at) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#at = at;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#at = Number.POSITIVE_INFINITY;
        this.#ring();
      },
      // A longer timer would fire at once; one that rings early only asks again.
      Math.min(Math.max(1, Math.ceil(at - performance.now())), 2 ** 31 - 1),
    );
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
