import type { Message } from 'amqplib';

/** How a waiting claim ended. */
export type Waited = {
  readonly messages: Message[];
  readonly paused: boolean;
  /** The lane was given up meanwhile: the claim waits on over the next. */
  readonly renewed?: true;
};

/** A claim that waits for a first job. */
export interface Waiter {
  readonly max: number;
  readonly end: (waited: Waited) => void;
  readonly fail: (error: unknown) => void;
}

/** What a claim waits for, and who hears of its end. */
export interface Wait {
  readonly max: number;
  readonly waitMs: number;
  readonly signal: AbortSignal | null;
  /** It was aborted, and is not among the waiters any more: what it gets all the same. */
  readonly aborted: () => Promise<Message[]>;
  readonly ended: () => void;
}

/** Claims that wait, the oldest first. */
export class Waiters {
  #all: Waiter[] = [];

  get size(): number {
    return this.#all.length;
  }

  get first(): Waiter | undefined {
    return this.#all[0];
  }

  /** How many jobs they ask for altogether. */
  get asked(): number {
    let sum = 0;
    for (const { max } of this.#all) sum += max;
    return sum;
  }

  takeAll(): readonly Waiter[] {
    return this.#all.splice(0);
  }

  /** Resolves empty when the time is over. */
  add({ max, waitMs, signal, aborted, ended }: Wait): Promise<Waited> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        this.#all = this.#all.filter((other) => other !== waiter);
      };
      const end = (waited: Waited): void => {
        leave();
        ended();
        resolve(waited);
      };
      const fail = (error: unknown): void => {
        leave();
        reject(error instanceof Error ? error : new Error(String(error)));
      };
      const waiter: Waiter = { max, end, fail };
      const abort = (): void => {
        // From here on nothing is handed to it by the way of arrivals, and its time is not over either.
        leave();
        void aborted().then((messages) => end({ messages, paused: false }));
      };
      const timer = setTimeout(
        () => end({ messages: [], paused: false }),
        Math.max(0, Math.min(waitMs, 2 ** 31 - 1)),
      );
      signal?.addEventListener('abort', abort, { once: true });
      this.#all.push(waiter);
    });
  }
}
