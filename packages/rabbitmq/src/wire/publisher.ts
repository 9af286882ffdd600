import type { SuretyError } from '@surety/core/errors';
import type { ConfirmChannel } from 'amqplib';
import { type Call, failure } from '../call.ts';
import { fromNative, replyCode } from '../native-errors.ts';
import type { Line } from './line.ts';
import { bytesOf } from './message-frames.ts';
import { answered, distrust, type Wire } from './open-wire.ts';
import { Outbox } from './outbox.ts';

/** One message. Its id, which must be new and of ASCII, is the nonce of the copy, and what a return is matched by. */
export interface Outgoing {
  readonly exchange: string;
  readonly key: string;
  /** Text is sent as UTF-8. */
  readonly body: Buffer | string;
  readonly options: MessageOptions;
}

/** What is said of a message. All are persistent. */
export interface MessageOptions {
  readonly messageId: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  /** True unless said otherwise: one that reaches no queue comes back. */
  readonly mandatory?: boolean;
}

/** `refused`: certainly not stored; `unroutable` says that it was for want of a queue. */
export type Published =
  | { readonly status: 'stored' }
  | { readonly status: 'refused'; readonly error: SuretyError; readonly unroutable: boolean }
  | { readonly status: 'unknown'; readonly error: SuretyError };

/** One call. */
interface Batch {
  readonly messages: readonly Outgoing[];
  /** Null: open. */
  readonly results: (Published | null)[];
  open: number;
  readonly done: () => void;
}

const STORED: Published = Object.freeze({ status: 'stored' });
/** What may wait for its confirm in this process, so that a broker that is away or blocked does not fill its memory. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024;
/** Beside the body: properties, headers, frames. */
const MESSAGE_BYTES = 1024;

/** Publishes with `mandatory` and confirms, over a connection of its own: under an alarm the broker stops reading from it. */
export class Publisher {
  readonly #line: Line;
  readonly #missing: () => void;
  /** Ids of messages that came back; their confirms, which are positive all the same, are still to come. */
  readonly #returned = new Set<string>();
  #waitingBytes = 0;
  #wire: Wire | null = null;
  /** What the broker closed the channel with. */
  #refusal: unknown = null;
  #channel: Promise<ConfirmChannel> | null = null;

  /** `missing` is told when an exchange was not there. */
  constructor(line: Line, missing: () => void) {
    this.#line = line;
    this.#missing = missing;
  }

  /** One outcome each, in order, before the deadline. Never rejects. */
  async publish(messages: readonly Outgoing[], call: Call): Promise<readonly Published[]> {
    let wire: Wire;
    let channel: ConfirmChannel;
    try {
      wire = await this.#line.get(call);
      if (wire.isBlocked) throw blocked(call);
      channel = await this.#channelOf(wire, call);
    } catch (native) {
      const error = fromNative(native, call.operation);
      return messages.map(() => ({ status: 'refused', error, unroutable: false }));
    }
    const from = performance.now();
    const heard = wire.heardBytes;
    const { promise, resolve } = Promise.withResolvers<void>();
    const results = messages.map(() => null);
    const batch: Batch = { messages, results, open: messages.length, done: resolve };
    if (messages.length === 0) resolve();
    wire.together(channel, () => {
      const outbox = new Outbox(channel);
      for (let index = 0; index < messages.length; index += 1) this.#send(outbox, batch, index, call);
      outbox.flush();
    });
    const timer = setTimeout(
      () => {
        const error = failure('BACKEND_TIMEOUT', 'RabbitMQ did not confirm in time.', call.operation, {
          retryable: 'unknown',
        });
        for (const [index, message] of messages.entries())
          this.#end(batch, index, waitingBytesOf(bytesOf(message.body)), { status: 'unknown', error });
        distrust(wire, heard, from);
      },
      Math.max(0, call.deadline - from),
    );
    await promise;
    clearTimeout(timer);
    return batch.results.filter((result) => result !== null);
  }

  /** Something that is for whoever listens, be it nobody. */
  async tell(exchange: string, body: Buffer, nonce: string, call: Call): Promise<Published> {
    const [told] = await this.publish(
      [{ exchange, key: '', body, options: { mandatory: false, messageId: nonce } }],
      call,
    );
    return told ?? STORED;
  }

  #send(outbox: Outbox, batch: Batch, index: number, call: Call): void {
    const message = batch.messages[index] as Outgoing;
    const bodyBytes = bytesOf(message.body);
    const bytes = waitingBytesOf(bodyBytes);
    if (this.#waitingBytes + bytes > MOST_WAITING_BYTES) {
      const what = 'Too much waits for the confirms of RabbitMQ.';
      const error = failure('BACKEND_OVERLOADED', what, call.operation);
      return this.#end(batch, index, 0, { status: 'refused', error, unroutable: false });
    }
    this.#waitingBytes += bytes;
    const confirmed = (native: unknown): void =>
      this.#end(batch, index, bytes, this.#confirmed(message, native, call));
    try {
      outbox.add(message, bodyBytes, confirmed);
    } catch (native) {
      // Thrown before a byte was written: the channel is closed, or the message cannot be encoded.
      const error =
        native instanceof RangeError
          ? failure('PAYLOAD_TOO_LARGE', 'The headers do not fit into a frame.', call.operation, {
              cause: native,
            })
          : fromNative(native, call.operation);
      this.#end(batch, index, bytes, { status: 'refused', error, unroutable: false });
    }
  }

  #confirmed(message: Outgoing, native: unknown, call: Call): Published {
    const wasReturned = this.#returned.size > 0 && this.#returned.delete(message.options.messageId);
    if (native !== null && native !== undefined) return this.#unconfirmed(message, native, call);
    if (!wasReturned) return STORED;
    return { status: 'refused', error: gone('queue', call, null), unroutable: true };
  }

  #unconfirmed(message: Outgoing, native: unknown, call: Call): Published {
    if (native instanceof Error && native.message === 'message nacked') {
      const what = 'RabbitMQ refused the message: a queue is full or has no leader.';
      const remedy = 'Remove a max-length policy from the queues of Surety, or wait for a leader.';
      const error = failure('BACKEND_OVERLOADED', what, call.operation, { retryable: 'unknown', remedy });
      return { status: 'unknown', error };
    }
    const refused = refusalOf(this.#refusal, message, call);
    if (refused !== null) return { status: 'refused', error: refused, unroutable: false };
    const what = 'The connection broke before the confirm came.';
    const error = failure('BACKEND_UNAVAILABLE', what, call.operation, {
      retryable: 'unknown',
      cause: native,
    });
    return { status: 'unknown', error };
  }

  /** The first outcome stands: a confirm may come after the deadline. */
  #end(batch: Batch, index: number, bytes: number, published: Published): void {
    if (batch.results[index] !== null) return;
    batch.results[index] = published;
    this.#waitingBytes -= bytes;
    batch.open -= 1;
    if (batch.open === 0) batch.done();
  }

  async #channelOf(wire: Wire, call: Call): Promise<ConfirmChannel> {
    if (this.#wire !== wire || this.#channel === null) {
      this.#wire = wire;
      const opening = this.#openOn(wire);
      this.#channel = opening;
      opening.catch(() => {
        if (this.#channel === opening) this.#channel = null;
      });
    }
    return answered(wire, call, this.#channel);
  }

  async #openOn(wire: Wire): Promise<ConfirmChannel> {
    const channel = await wire.confirmChannel();
    this.#refusal = null;
    this.#returned.clear();
    channel.on('error', (error) => {
      // Comes before the end of the channel, which ends all that waits.
      this.#refusal = error;
      if (replyCode(error) === 404) this.#missing();
    });
    channel.on('return', ({ properties }) => void this.#returned.add(String(properties.messageId)));
    channel.on('close', () => {
      if (this.#wire === wire) this.#channel = null;
    });
    return channel;
  }
}

function waitingBytesOf(bodyBytes: number): number {
  return bodyBytes + MESSAGE_BYTES;
}

/** Where the broker said why it closed the channel, and the reason holds for this message; null: it may have been stored. */
function refusalOf(native: unknown, { exchange, body }: Outgoing, call: Call): SuretyError | null {
  const said = native instanceof Error ? native.message : '';
  const most = Number(/larger than configured max size (\d+)/.exec(said)?.[1] ?? Number.NaN);
  const bytes = bytesOf(body);
  if (bytes > most) {
    const what = `The message has ${bytes} bytes, more than the ${most} that the broker takes.`;
    return failure('PAYLOAD_TOO_LARGE', what, call.operation, { cause: native });
  }
  const reply = replyCode(native);
  // All that goes to this exchange is refused; what was sent to others before may be stored.
  const concerns =
    exchange === ''
      ? /exchange '(?:amq\.default)?'|default exchange/.test(said)
      : said.includes(`'${exchange}'`);
  if (!concerns) return null;
  if (reply === 404) return gone('exchange', call, native);
  return reply === 403 ? fromNative(native, call.operation) : null;
}

function gone(what: 'queue' | 'exchange', call: Call, cause: unknown): SuretyError {
  return failure(
    'BACKEND_UNAVAILABLE',
    `RabbitMQ has no ${what} for the message; it was not stored.`,
    call.operation,
    {
      cause,
      remedy:
        'Somebody deleted a queue, an exchange or a binding of Surety; it is made again with the next call.',
    },
  );
}

function blocked(call: Call): SuretyError {
  return failure(
    'BACKEND_OVERLOADED',
    'RabbitMQ accepts nothing: it is short of memory or disk.',
    call.operation,
    {
      remedy: 'Free memory or disk of the broker; running jobs go on meanwhile.',
    },
  );
}
