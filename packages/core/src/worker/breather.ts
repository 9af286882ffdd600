/**
 * Starts between two breaths. Fewer cost a turn of the event loop more often than they gain; many more, and a whole held batch of short
 * handlers runs in one go.
 */
const STARTS = 64;

/**
 * Handlers that never wait for anything run one after the other without the event loop getting a turn. A statement that was just sent
 * would then leave the process only after them, and an answer that came would be read after them: worker and store would work by
 * turns instead of at the same time. So after some starts the worker takes a breath: one turn of the event loop.
 */
export class Breather {
  readonly #resume: () => void;
  #left = STARTS;
  #breath: NodeJS.Immediate | null = null;

  constructor(resume: () => void) {
    this.#resume = resume;
  }

  /** Nothing is started now; `resume` is called in a moment. */
  get isBreathing(): boolean {
    return this.#breath !== null;
  }

  started(): void {
    this.#left -= 1;
    if (this.#left <= 0) this.breathe();
  }

  /** A statement was sent: let it go out. */
  breathe(): void {
    this.#left = STARTS;
    this.#breath ??= setImmediate(() => {
      this.#breath = null;
      this.#resume();
    });
  }

  close(): void {
    if (this.#breath !== null) clearImmediate(this.#breath);
    this.#breath = null;
  }
}
