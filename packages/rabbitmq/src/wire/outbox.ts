import type { ConfirmChannel } from 'amqplib';
import { lengthOf, PlainFrames, writeMessage } from './message-frames.ts';
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
  /** For the place of the last message that had no headers: the next goes there most of the time. */
  #plain: PlainFrames | null = null;

  constructor(channel: ConfirmChannel) {
    this.#channel = channel;
    this.#inside = insideOf(channel);
  }

  /** Throws before a byte of it was written, or else `confirmed` hears of it. */
  add(message: Outgoing, bodyBytes: number, confirmed: (error: unknown) => void): void {
    const inside = this.#inside;
    if (!this.#isOpen || inside === null) return this.#publish(message, confirmed);
    const { body, options } = message;
    const { frameMax } = inside.connection;
    const plain = options.headers === undefined ? this.#plainFor(message, inside) : null;
    const length =
      plain?.lengthOf(options.messageId, bodyBytes, frameMax) ?? lengthOf(message, bodyBytes, frameMax);
    if (length === null || length > CHUNK_BYTES) return this.#publish(message, confirmed);
    if (this.#chunk !== null && this.#end + length > this.#chunk.length) this.flush();
    this.#chunk ??= Buffer.allocUnsafe(CHUNK_BYTES);
    this.#end =
      plain?.write(this.#chunk, this.#end, options.messageId, body, bodyBytes) ??
      writeMessage(this.#chunk, this.#end, inside.ch, message, bodyBytes);
    // In the order of the messages, since the broker confirms them by number.
    inside.pushConfirmCallback(confirmed);
  }

  #plainFor(message: Outgoing, { ch }: Inside): PlainFrames {
    if (this.#plain?.isFor(message) === true) return this.#plain;
    const { exchange, key, options } = message;
    this.#plain = new PlainFrames(ch, { exchange, key, isMandatory: options.mandatory !== false });
    return this.#plain;
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
    const content = typeof body === 'string' ? Buffer.from(body) : body;
    const all = { mandatory: true, persistent: true, ...options };
    this.#channel.publish(exchange, key, content, all, confirmed);
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
