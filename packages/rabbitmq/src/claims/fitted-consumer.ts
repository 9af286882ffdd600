import type { Channel, Message } from 'amqplib';
import { LATE, within } from '../call.ts';
import { type Consumer, newConsumer, roomOf } from './deliveries.ts';

/** What a fitted consumer works for. */
export interface ConsumerEvents {
  /** What the waiting claims ask for; 0: there is none. */
  readonly needed: () => number;
  /** A message, or null when the broker ended the consumer. */
  readonly received: (consumer: Consumer, message: Message | null) => void;
  /** It was attached or cancelled. */
  readonly changed: () => void;
  readonly failed: (error: unknown) => void;
  /** Asks what is answered by way of the queue's log. */
  readonly logged: <T>(question: () => Promise<T>) => Promise<T>;
}

/** How long a claim puts up with a consumer that may bring less than it asks for. */
const SHORT_MS = 100;
const MOST = 65_535;

/** The consumer of a lane: it brings exactly what waiting claims ask for, since what was delivered counts. A prefetch cannot be changed, so where it does not fit any more another consumer takes its place. */
export class FittedConsumer {
  readonly #channel: Channel;
  readonly #queue: string;
  readonly #events: ConsumerEvents;
  #consumer: Consumer | null = null;
  #changing: Promise<void> | null = null;
  #ended = false;

  constructor(channel: Channel, queue: string, events: ConsumerEvents) {
    this.#channel = channel;
    this.#queue = queue;
    this.#events = events;
  }

  get isAttached(): boolean {
    return this.#consumer !== null;
  }

  /** What it may still bring. */
  get room(): number {
    const consumer = this.#consumer;
    return consumer === null ? 0 : Math.max(0, roomOf(consumer));
  }

  /** Resolves once the change under way is over. */
  async changed(): Promise<void> {
    await this.#changing;
  }

  /** Makes it bring what is needed now. */
  fit(): void {
    const needed = this.#needed();
    if (this.#changing !== null || this.#ended || needed === 0) return;
    const consumer = this.#consumer;
    if (consumer === null) return this.#change(() => this.#attach());
    const may = roomOf(consumer);
    if (may === needed) return;
    if (may <= 0 || may > needed) return this.#refit();
    // Settlements under way may free the rest; only if they do not is another consumer worth its two round trips.
    setTimeout(() => {
      if (this.#consumer === consumer && roomOf(consumer) < this.#needed()) this.#refit();
    }, SHORT_MS).unref();
  }

  /** No more deliveries. False: the broker did not confirm it in time. */
  async detach(deadline: number): Promise<boolean> {
    if (this.#changing !== null && (await within(this.#changing, deadline)) === LATE) return false;
    if (this.#ended) return false;
    if (this.#consumer === null) return true;
    this.#change(() => this.#cancel());
    if (this.#changing !== null && (await within(this.#changing, deadline)) === LATE) return false;
    return !this.#ended;
  }

  /** The channel is gone. */
  end(): void {
    this.#ended = true;
    this.#consumer = null;
  }

  #needed(): number {
    return Math.min(this.#events.needed(), MOST);
  }

  #refit(): void {
    this.#change(async () => {
      await this.#cancel();
      if (this.#needed() > 0) await this.#attach();
    });
  }

  #change(step: () => Promise<void>): void {
    if (this.#changing !== null || this.#ended) return;
    this.#changing = step()
      .catch((error: unknown) => this.#events.failed(error))
      .then(() => {
        this.#changing = null;
        // Whoever came or went meanwhile.
        if (!this.#ended) this.#events.changed();
      });
  }

  async #attach(): Promise<void> {
    const consumer = newConsumer(this.#needed());
    this.#consumer = consumer;
    // Sent one after the other without a pause, so that no other claim's prefetch comes in between.
    await this.#events.logged(() =>
      Promise.all([
        this.#channel.prefetch(consumer.prefetch, false),
        this.#channel.consume(this.#queue, (message) => this.#events.received(consumer, message), {
          consumerTag: consumer.tag,
        }),
      ]),
    );
  }

  async #cancel(): Promise<void> {
    const consumer = this.#consumer;
    if (consumer === null) return;
    this.#consumer = null;
    await this.#events.logged(() => this.#channel.cancel(consumer.tag));
  }
}
