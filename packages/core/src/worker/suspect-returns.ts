/** A suspect that finds no slot comes back after this long, doubled by chance, so that two workers do not pass it to and fro in a loop. */
const RETURN_MS = 150;
/** However many there are: the last of them must not be forgotten for long. */
const LONGEST_MS = 30_000;
/** Between two that come back: below it the store would be asked for nothing but them, above it a free slot would wait for one. */
const LEAST_SPACE_MS = 2;
const MOST_SPACE_MS = 250;
/** So many come back in the time that one takes: enough that the next one is there when it ends. */
const PER_RUN = 4;
/** Weight of the newest run in the running mean. */
const WEIGHT = 0.2;

/**
 * When suspects that were handed back are due again. After a crash there may be thousands, of which few run at a time: each by itself would be claimed and handed
 * back several times a second, and the store would do little else. So the more there are the later they come, at the pace at which they end.
 */
export class SuspectReturns {
  #lastAt = 0;
  #meanMs = 0;

  /** A suspect has run for `ms`. */
  ran(ms: number): void {
    this.#meanMs += (ms - this.#meanMs) * WEIGHT;
  }

  /** In how many ms the next one that is handed back shall be due. */
  delayMs(now: number, random: number): number {
    const spaceMs = Math.min(MOST_SPACE_MS, Math.max(LEAST_SPACE_MS, this.#meanMs / PER_RUN));
    const at = Math.min(now + LONGEST_MS, Math.max(now + RETURN_MS, this.#lastAt + spaceMs));
    this.#lastAt = at;
    return at - now + RETURN_MS * random;
  }
}
