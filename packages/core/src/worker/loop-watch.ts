/** A tick this late says that the event loop did not run. */
const BLOCKED_MS = 500;
/** Gaps remembered: the longest since a lease was last known to hold is among the last few. */
const GAPS = 16;

/** Notes when the event loop did not run, so that a lost lease can be told from a blocked process. */
export class LoopWatch {
  readonly #tickMs: number;
  readonly #gaps: { readonly endedAt: number; readonly ms: number }[] = [];
  #lastAt: number;

  constructor(tickMs: number, now: number) {
    this.#tickMs = tickMs;
    this.#lastAt = now;
  }

  /** To be called every `tickMs`. */
  tick(now: number): void {
    const ms = this.#gapUntil(now);
    this.#lastAt = now;
    if (ms === 0) return;
    this.#gaps.push({ endedAt: now, ms });
    if (this.#gaps.length > GAPS) this.#gaps.shift();
  }

  /** The longest gap that reached beyond `since`, one that ends just now included; 0: none. */
  longestSince(since: number, now: number): number {
    let longest = this.#gapUntil(now);
    for (const { endedAt, ms } of this.#gaps) if (endedAt >= since && ms > longest) longest = ms;
    return Math.round(longest);
  }

  #gapUntil(now: number): number {
    const ms = now - this.#lastAt - this.#tickMs;
    return ms > BLOCKED_MS ? ms : 0;
  }
}
