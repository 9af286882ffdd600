const BEAT_MS = 50;

/**
 * The last moment at which the event loop of this process was known to run. An answer that is read after a stall may have waited for the whole of it, and
 * the job in it was taken before.
 */
export class LoopBeat {
  #users = 0;
  #at = performance.now();
  #timer: NodeJS.Timeout | null = null;

  get at(): number {
    return this.#at;
  }

  start(): void {
    this.#users += 1;
    this.#at = performance.now();
    if (this.#timer !== null) return;
    this.#timer = setInterval(() => {
      this.#at = performance.now();
    }, BEAT_MS);
    this.#timer.unref();
  }

  stop(): void {
    this.#users -= 1;
    if (this.#users > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
