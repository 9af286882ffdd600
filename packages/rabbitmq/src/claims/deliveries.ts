import type { Channel, Message } from 'amqplib';

/** One consumer of a channel, from its making to its cancellation. */
export interface Consumer {
  readonly tag: string;
  readonly prefetch: number;
  /** Delivered and neither acknowledged nor given back. */
  unacked: number;
}

/** What a channel has delivered and not heard of again. A tag is sent back once: a second time would close the channel, and with it all its leases. */
export class Deliveries {
  readonly #channel: Channel;
  /** In order of delivery. Without a consumer: it was got by asking. */
  readonly #outstanding = new Map<number, Consumer | null>();

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  get isEmpty(): boolean {
    return this.#outstanding.size === 0;
  }

  add({ fields }: Message, consumer: Consumer | null): void {
    if (consumer !== null) consumer.unacked += 1;
    this.#outstanding.set(fields.deliveryTag, consumer);
  }

  /** Up to the first that is still held in one frame, the others one by one. Throws when the channel is closed: nothing was sent then. */
  ack(tags: readonly number[]): void {
    const done = new Set(tags);
    let upTo = 0;
    for (const tag of this.#outstanding.keys()) {
      if (!done.has(tag)) break;
      upTo = tag;
    }
    if (upTo > 0) this.#channel.ack(handle(upTo), true);
    for (const tag of done) {
      if (tag > upTo && this.#outstanding.has(tag)) this.#channel.ack(handle(tag));
      this.#remove(tag);
    }
  }

  reject(tag: number): void {
    if (!this.#outstanding.has(tag)) return;
    this.#channel.reject(handle(tag), true);
    this.#remove(tag);
  }

  nack(tag: number): void {
    if (!this.#outstanding.has(tag)) return;
    this.#channel.nack(handle(tag), false, true);
    this.#remove(tag);
  }

  clear(): void {
    this.#outstanding.clear();
  }

  #remove(tag: number): void {
    const consumer = this.#outstanding.get(tag);
    if (consumer !== null && consumer !== undefined) consumer.unacked -= 1;
    this.#outstanding.delete(tag);
  }
}

/** All that amqplib reads of a message to acknowledge it. */
function handle(deliveryTag: number): Message {
  return { fields: { deliveryTag } } as Message;
}
