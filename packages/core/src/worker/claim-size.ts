/** Work held ahead, in ms at the rate seen: enough to hide a round trip, short enough that a held job is not late. */
const AHEAD_MS = 30;
/** The most that is in hand. With 500, batches were so small that their commits cost a quarter of the rate; 2000 were no faster, and a crash charges all. */
const MOST_AHEAD = 1000;
/** Weight of the newest handler time in the running mean, once there are enough of them. */
const WEIGHT = 0.05;

/** How many jobs a worker should have in hand, from how long its handlers take. Claims nothing ahead until it has seen one end. */
export class ClaimSize {
  readonly #concurrency: number;
  readonly #ahead: boolean;
  #meanMs: number | null = null;
  #seen = 0;

  constructor(concurrency: number, ahead: boolean) {
    this.#concurrency = concurrency;
    this.#ahead = ahead;
  }

  /**
   * A handler has ended after `ms`. The first one ever paid for what is compiled and connected then, often a hundred times what the next
   * takes, so it counts only until there is a second; until there are many, all since count alike.
   */
  saw(ms: number): void {
    const weight = this.#seen < 2 ? 1 : Math.max(WEIGHT, 1 / this.#seen);
    this.#seen += 1;
    this.#meanMs = this.#meanMs === null ? ms : this.#meanMs + (ms - this.#meanMs) * weight;
  }

  /** Held jobs did not get a slot within `ms` (0: all did): what runs is slower than the mean says. */
  sawSlow(ms: number): void {
    if (ms === 0) return;
    if (this.#meanMs !== null && ms <= this.#meanMs) return;
    this.#meanMs = ms;
    this.#seen = Math.max(this.#seen, Math.ceil(1 / WEIGHT));
  }

  /** Running and held together. */
  target(): number {
    if (!this.#ahead || this.#meanMs === null) return this.#concurrency;
    const jobs = Math.floor((AHEAD_MS * this.#concurrency) / Math.max(this.#meanMs, 0.001));
    return Math.max(this.#concurrency, Math.min(jobs, MOST_AHEAD));
  }
}
