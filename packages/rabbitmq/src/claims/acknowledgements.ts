/** What was not sent, because the channel was closed before: the jobs are back in their queue. */
export const NOT_SENT: unique symbol = Symbol('not sent');

/** The channel over which they go. */
export interface AcknowledgingChannel {
  /** Sends what may go now, and a question behind it. Throws when the channel is closed: nothing was sent then. */
  readonly send: (tags: readonly number[]) => {
    readonly left: readonly number[];
    readonly arrived: Promise<void>;
  };
  /** Resolves when more may go. */
  readonly makeRoom: () => Promise<void>;
}

/**
 * Gathers what is acknowledged within one turn of the event loop: it goes in as few frames as can be, with one question behind it. Short handlers end
 * in such numbers that a question for each call would cost the broker more than their acknowledgements.
 */
export class Acknowledgements {
  readonly #channel: AcknowledgingChannel;
  #tags: number[] = [];
  #arrived: Promise<void | typeof NOT_SENT> | null = null;

  constructor(channel: AcknowledgingChannel) {
    this.#channel = channel;
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
      const { left, arrived } = this.#channel.send(tags);
      return left.length === 0 ? arrived : arrived.then(() => this.#sendRest(left));
    } catch {
      return Promise.resolve(NOT_SENT);
    }
  }

  async #sendRest(tags: readonly number[]): Promise<void> {
    for (let rest = tags; rest.length > 0; ) {
      await this.#channel.makeRoom();
      const { left, arrived } = this.#channel.send(rest);
      await arrived;
      rest = left;
    }
  }
}
