import type { ConfirmChannel } from 'amqplib';
import { lengthOf, writeMessage } from './message-frames.ts';
import type { Outgoing } from './publisher.ts';

/** What is used of amqplib beyond its interface; where it is otherwise each message goes by `publish`. */
interface Inside {
  readonly ch: number;
  readonly connection: {
    readonly frameMax: number;
    readonly channels: readonly ({ readonly buffer: { write(chunk: Buffer): unknown } } | null | undefined)[];
  };
  pushConfirmCallback(confirmed: (error: unknown) => void): void;
}

const CHUNK_BYTES = 32 * 1024;

/**
 * Messages of one call, written within one turn of the event loop. amqplib makes five buffers of each and passes them on one by one, which takes longer than
 * all else together; here many are written as one. The first goes by `publish`, which throws where the channel is closed.
 */
export class Outbox {
  readonly #channel: ConfirmChannel;
  readonly #inside: Inside | null;
  #isOpen = false;
  #chunk: Buffer | null = null;
  #end = 0;

  constructor(channel: ConfirmChannel) {
    this.#channel = channel;
    this.#inside = insideOf(channel);
  }

  /** Throws before a byte of it was written, or else `confirmed` hears of it. */
  add(message: Outgoing, confirmed: (error: unknown) => void): void {
    const inside = this.#inside;
    const length = this.#isOpen && inside !== null ? lengthOf(message, inside.connection.frameMax) : null;
    if (inside === null || length === null || length > CHUNK_BYTES) return this.#publish(message, confirmed);
    if (this.#chunk !== null && this.#end + length > this.#chunk.length) this.flush();
    this.#chunk ??= Buffer.allocUnsafe(CHUNK_BYTES);
    this.#end = writeMessage(this.#chunk, this.#end, inside.ch, message);
    // In the order of the messages, since the broker confirms them by number.
    inside.pushConfirmCallback(confirmed);
  }

  flush(): void {
    const chunk = this.#chunk;
    if (chunk === null) return;
    this.#chunk = null;
    const whole = chunk.subarray(0, this.#end);
    this.#end = 0;
    this.#inside?.connection.channels[this.#inside.ch]?.buffer.write(whole);
  }

  #publish({ exchange, key, body, options }: Outgoing, confirmed: (error: unknown) => void): void {
    this.flush();
    this.#channel.publish(exchange, key, body, { mandatory: true, persistent: true, ...options }, confirmed);
    this.#isOpen = true;
  }
}

function insideOf(channel: ConfirmChannel): Inside | null {
  const { ch, connection, pushConfirmCallback } = channel as unknown as Partial<Inside>;
  if (typeof ch !== 'number' || typeof pushConfirmCallback !== 'function') return null;
  const buffer = connection?.channels?.[ch]?.buffer;
  return typeof buffer?.write === 'function' && typeof connection?.frameMax === 'number'
    ? (channel as unknown as Inside)
    : null;
}
