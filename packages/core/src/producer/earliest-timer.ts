/** One timer for many deadlines (`performance.now()`): it goes off at the earliest that was asked for. */
export class EarliestTimer {
  readonly #expire: () => number;
  #timer: NodeJS.Timeout | undefined;
  #at = Number.POSITIVE_INFINITY;

  /** `expire` ends what is due and answers with the next deadline, Infinity when there is none. */
  constructor(expire: () => number) {
    this.#expire = expire;
  }

  watch(at: number): void {
    if (at >= this.#at) return;
    clearTimeout(this.#timer);
    this.#at = at;
    this.#timer = setTimeout(
      () => {
        this.#at = Number.POSITIVE_INFINITY;
        this.watch(this.#expire());
      },
      Math.max(1, Math.ceil(at - performance.now())),
    );
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#at = Number.POSITIVE_INFINITY;
  }
}
