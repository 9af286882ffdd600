/** For a job system that hands out batches: starts their jobs in order, no more than `concurrency` at the same time in all. */
export class Limiter {
  readonly #concurrency: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  /** Resolves when `run` has ended for each item; rejects with the first error, as soon as it is there. */
  async all<Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> {
    let next = 0;
    const lane = async (): Promise<void> => {
      await this.#enter();
      try {
        for (let item = items[next++]; item !== undefined; item = items[next++]) await run(item);
      } finally {
        this.#leave();
      }
    };
    await Promise.all(Array.from({ length: Math.min(this.#concurrency, items.length) }, lane));
  }

  async #enter(): Promise<void> {
    if (this.#running >= this.#concurrency) {
      const turn = Promise.withResolvers<void>();
      this.#waiting.push(turn.resolve);
      return turn.promise;
    }
    this.#running += 1;
  }

  /** Hands its place on, or gives it back. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}
