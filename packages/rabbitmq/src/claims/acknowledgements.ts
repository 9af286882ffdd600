/** What was not sent, because the channel was closed before: the jobs are back in their queue. */
export const NOT_SENT: unique symbol = Symbol('not sent');

/**
 * Gathers what is acknowledged within one turn of the event loop: it goes in as few frames as can be, with one question behind it. Short handlers end
 * in such numbers that a question for each call would cost the broker more than their acknowledgements.
 */
export class Acknowledgements {
  readonly #send: (tags: readonly number[]) => Promise<void>;
  #tags: number[] = [];
  #arrived: Promise<void | typeof NOT_SENT> | null = null;

  /** `send` throws when nothing was sent; its promise tells of the arrival. */
  constructor(send: (tags: readonly number[]) => Promise<void>) {
    this.#send = send;
  }

  /** Resolves once the broker has taken them in. */
  add(tags: readonly number[]): Promise<void | typeof NOT_SENT> {
    for (const tag of tags) this.#tags.push(tag);
    this.#arrived ??= new Promise((resolve) => setImmediate(resolve)).then(() => this.#flush());
    return this.#arrived;
  }

  #flush(): Promise<void | typeof NOT_SENT> {
    const tags = this.#tags;
    this.#tags = [];
    this.#arrived = null;
    try {
      return this.#send(tags);
    } catch {
      return Promise.resolve(NOT_SENT);
    }
  }
}
