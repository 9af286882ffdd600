import type { Message } from 'amqplib';
import { idOf } from '../message-body.ts';

/** The broker writes what it was told within some ms, and later where its disk stalls: 480 ms were seen on a busy machine. */
const UNWRITTEN_MS = 5000;

/**
 * Jobs that were copied and whose originals were acknowledged just now. An acknowledgement has no confirm: where the broker ends before it was written
 * the original comes back, beside its copy.
 */
export class RecentCopies {
  #batches: { readonly at: number; readonly ids: readonly string[] }[] = [];

  add(messages: readonly Message[]): void {
    this.#forgetOld();
    if (messages.length > 0) this.#batches.push({ at: performance.now(), ids: messages.map(idOf) });
  }

  /** Those that may be there twice now that the channel is gone. */
  take(): readonly string[] {
    this.#forgetOld();
    return this.#batches.splice(0).flatMap(({ ids }) => ids);
  }

  #forgetOld(): void {
    const oldest = performance.now() - UNWRITTEN_MS;
    while ((this.#batches[0]?.at ?? oldest) < oldest) this.#batches.shift();
  }
}
