import type { Consumer } from './deliveries.ts';

/**
 * So many commands of a channel (acknowledgements, returns) may be under way to the log of its queue. Beyond 33 the broker keeps them in the channel until some
 * are written: it goes on answering questions, and forgets them with the channel, so that jobs come back although the question behind their acknowledgements was
 * answered (seen on 3.10 and 4.3; its setting `quorum_commands_soft_limit` is 32). Some are left for what the broker itself sends back.
 */
const MOST = 24;

interface Sent {
  readonly commands: number;
  /** Whose jobs; null: of several, or sent back. */
  readonly consumer: Consumer | null;
  /** How many of them had been sent then. */
  readonly settled: number;
}

/** Commands of which it is not known that the queue has carried them out. In the order in which they were sent, which is the order in which it does. */
export class Unproven {
  #sent: Sent[] = [];
  #count = 0;
  #waiting: (() => void)[] = [];

  /** For so many more. */
  get room(): number {
    return Math.max(0, MOST - this.#count);
  }

  add(commands: number, consumer: Consumer | null): void {
    if (commands === 0) return;
    this.#sent.push({ commands, consumer, settled: consumer?.settled ?? 0 });
    this.#count += commands;
  }

  /** A consumer is brought no more than its prefetch and what was carried out of its own: what it has says how much that is. */
  brought(): void {
    if (this.#count === 0) return;
    let proven = 0;
    for (const { consumer, settled } of this.#sent) {
      if (consumer === null || settled > consumer.delivered - consumer.prefetch) break;
      proven += 1;
    }
    this.#drop(proven);
  }

  /** An answer that comes by the log of the queue, and so after all that was sent before the question. */
  async behind<T>(question: () => Promise<T>): Promise<T> {
    const last = this.#sent.at(-1);
    const answer = await question();
    if (last !== undefined) this.#drop(this.#sent.indexOf(last) + 1);
    return answer;
  }

  /** Resolves when there is room again. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  clear(): void {
    this.#drop(this.#sent.length);
  }

  #drop(proven: number): void {
    if (proven === 0) return;
    for (const { commands } of this.#sent.splice(0, proven)) this.#count -= commands;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
