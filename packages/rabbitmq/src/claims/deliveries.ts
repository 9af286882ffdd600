import { randomUUID } from 'node:crypto';
import type { Channel, Message } from 'amqplib';
import type { Unproven } from './unproven.ts';

/** One consumer of a channel, from its making to its cancellation. */
export interface Consumer {
  readonly tag: string;
  readonly prefetch: number;
  delivered: number;
  /** Acknowledged or given back. */
  settled: number;
}

export function newConsumer(prefetch: number): Consumer {
  return { tag: randomUUID(), prefetch, delivered: 0, settled: 0 };
}

/** What it may still bring. */
export function roomOf({ prefetch, delivered, settled }: Consumer): number {
  return prefetch - (delivered - settled);
}

/** What a channel has delivered and not heard of again. A tag is sent back once: a second time would close the channel, and with it all its leases. */
export class Deliveries {
  readonly #channel: Channel;
  readonly #unproven: Unproven | null;
  /** In order of delivery. Without a consumer: it was got by asking. */
  readonly #outstanding = new Map<number, Consumer | null>();

  /** Without `unproven` what is acknowledged may be forgotten with the channel. */
  constructor(channel: Channel, unproven: Unproven | null) {
    this.#channel = channel;
    this.#unproven = unproven;
  }

  get isEmpty(): boolean {
    return this.#outstanding.size === 0;
  }

  add({ fields }: Message, consumer: Consumer | null): void {
    this.#outstanding.set(fields.deliveryTag, consumer);
    if (consumer === null) return;
    consumer.delivered += 1;
    this.#unproven?.brought();
  }

  /**
   * Up to the first that is still held in one frame, the others one by one: as many as can be under way. Returns what was not sent. Throws when the channel is
   * closed: nothing was sent then.
   */
  ack(tags: readonly number[]): readonly number[] {
    let room = this.#unproven?.room ?? Number.POSITIVE_INFINITY;
    if (room === 0) return tags;
    const done = new Set(tags);
    room -= this.#ackFirst(done, room);
    const left: number[] = [];
    for (const tag of done) {
      if (!this.#outstanding.has(tag)) continue;
      if (room === 0) left.push(tag);
      else {
        this.#channel.ack(handle(tag));
        this.#settled(tag);
        room -= 1;
      }
    }
    return left;
  }

  reject(tag: number): void {
    if (!this.#outstanding.has(tag)) return;
    this.#channel.reject(handle(tag), true);
    this.#returned(tag);
  }

  nack(tag: number): void {
    if (!this.#outstanding.has(tag)) return;
    this.#channel.nack(handle(tag), false, true);
    this.#returned(tag);
  }

  /** All that is left back into the queue, in one frame. */
  nackAll(): void {
    const last = [...this.#outstanding.keys()].at(-1);
    if (last === undefined) return;
    this.#channel.nack(handle(last), true, true);
    this.clear();
  }

  clear(): void {
    this.#outstanding.clear();
    this.#unproven?.clear();
  }

  /** What leads, in one frame, and takes it out of `done`. The broker makes a command of each consumer's share; returns how many. */
  #ackFirst(done: Set<number>, room: number): number {
    let last = 0;
    let commands = 0;
    let share: Consumer | null | undefined;
    for (const [tag, consumer] of this.#outstanding) {
      if (!done.has(tag)) break;
      if (consumer !== share) {
        if (commands === room) break;
        commands += 1;
        share = consumer;
      }
      last = tag;
    }
    if (share === undefined) return 0;
    this.#channel.ack(handle(last), true);
    share = undefined;
    for (const [tag, consumer] of this.#outstanding) {
      if (tag > last) break;
      if (share !== undefined && consumer !== share) this.#unproven?.add(1, share);
      share = consumer;
      if (consumer !== null) consumer.settled += 1;
      this.#outstanding.delete(tag);
      done.delete(tag);
    }
    this.#unproven?.add(1, share ?? null);
    return commands;
  }

  #settled(tag: number): void {
    this.#unproven?.add(1, this.#remove(tag));
  }

  /** What is sent back may be carried out later than what was sent after it. */
  #returned(tag: number): void {
    this.#remove(tag);
    this.#unproven?.add(1, null);
  }

  #remove(tag: number): Consumer | null {
    const consumer = this.#outstanding.get(tag) ?? null;
    if (consumer !== null) consumer.settled += 1;
    this.#outstanding.delete(tag);
    return consumer;
  }
}

/** All that amqplib reads of a message to acknowledge it. */
function handle(deliveryTag: number): Message {
  return { fields: { deliveryTag } } as Message;
}
