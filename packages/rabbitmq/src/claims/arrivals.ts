import type { Message } from 'amqplib';

/** This part of what is coming is waited for: the rest may have gone to another worker meanwhile. */
const MOST = 0.9;
/** A delivery that is coming takes about 1 ms. */
const GATHER_MS = 2;

interface Gathering {
  readonly count: number;
  readonly end: () => void;
}

/** What was delivered and is claimed by nobody yet, in order. */
export class Arrivals {
  readonly #arrived: () => void;
  readonly #messages: Message[] = [];
  readonly #gatherings: Set<Gathering> = new Set();
  #isTelling = false;

  /** `arrived` is called when some are there, once all that came at the same moment has been read. */
  constructor(arrived: () => void) {
    this.#arrived = arrived;
  }

  get count(): number {
    return this.#messages.length;
  }

  add(message: Message): void {
    this.#messages.push(message);
    if (this.#isTelling) return;
    this.#isTelling = true;
    setImmediate(() => {
      this.#isTelling = false;
      this.#tell();
    });
  }

  take(max: number): Message[] {
    return this.#messages.splice(0, max);
  }

  /**
   * Waits until most of so many are there, a moment at most. The broker sends in small packets: whoever took the first few of fifty would settle them by
   * themselves, and a settlement costs the broker almost the same for one and for fifty.
   */
  gather(coming: number): Promise<void> | null {
    const count = coming * MOST;
    if (this.count >= count) return null;
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => {
      clearTimeout(timer);
      this.#gatherings.delete(gathering);
      resolve();
    };
    const gathering = { count, end };
    const timer = setTimeout(end, GATHER_MS);
    this.#gatherings.add(gathering);
    return promise;
  }

  /** Whoever gathers takes them before anybody else is told. */
  #tell(): void {
    for (const { count, end } of this.#gatherings) if (this.count >= count) return end();
    if (this.#gatherings.size === 0) this.#arrived();
  }
}
