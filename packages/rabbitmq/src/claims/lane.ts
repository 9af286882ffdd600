import { randomUUID } from 'node:crypto';
import type { Channel, Message } from 'amqplib';
import { type Call, failure, LATE, timedOut, within } from '../call.ts';
import { answered, distrust, type Wire } from '../wire/open-wire.ts';
import { type Consumer, Deliveries } from './deliveries.ts';
import { FittedConsumer } from './fitted-consumer.ts';

/** How a waiting claim ended. */
export type Waited = { readonly messages: Message[]; readonly paused: boolean };

interface Waiter {
  readonly max: number;
  readonly end: (waited: Waited) => void;
  readonly fail: (error: unknown) => void;
}

/** What a lane tells its backend. */
export interface LaneEvents {
  /** Delivered, and nobody asks for them any more. */
  readonly unclaimed: (lane: Lane, messages: readonly Message[]) => Promise<void>;
  /** The channel is gone, and what was held over it. `cancelled`: the broker ended a consumer. */
  readonly ended: (lane: Lane, reason: unknown, cancelled: boolean) => void;
}

/** How long a consumer is kept open after a claim, for the next one. */
const LINGER_MS = 50;
const CANCELLED = new Error('channel closed: the broker cancelled the consumer');
/** An aborted claim does not wait longer than this for the broker to confirm that nothing more comes. */
const CANCEL_MS = 700;

/**
 * The claims of one queue, over a channel of their own, so that an error of it gives no other queue's jobs back. A claim that waits has a consumer
 * with exactly as much prefetch as it asked for; it stays open for the claim that follows. Others ask once.
 */
export class Lane {
  readonly wire: Wire;
  readonly queue: string;
  readonly #name: string;
  readonly #channel: Channel;
  readonly #events: LaneEvents;
  readonly #deliveries: Deliveries;
  readonly #buffer: Message[] = [];
  #waiters: Waiter[] = [];
  readonly #consumer: FittedConsumer;
  #linger: NodeJS.Timeout | null = null;
  #isOpen = true;
  #isFlushing = false;

  constructor(wire: Wire, channel: Channel, queue: string, name: string, events: LaneEvents) {
    this.wire = wire;
    this.queue = queue;
    this.#name = name;
    this.#channel = channel;
    this.#events = events;
    this.#deliveries = new Deliveries(channel);
    this.#consumer = new FittedConsumer(channel, name, {
      needed: () => this.#needed(),
      received: (consumer, message) => this.#arrived(consumer, message),
      changed: () => (this.#waiters.length > 0 ? this.#fit() : this.#lingerOn()),
      failed: (error) => this.#end(error),
    });
    channel.on('error', (error) => this.#end(error));
    channel.on('close', () => this.#end(new Error('channel closed')));
  }

  /** False: every lease that was given over it has ended. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Delivered here, claimed by nobody yet: ready as far as anybody can tell. */
  get unclaimed(): number {
    return this.#buffer.length;
  }

  get isWaiting(): boolean {
    return this.#waiters.length > 0 || this.#consumer.isAttached;
  }

  /** Asks once. */
  async take(max: number, call: Call): Promise<Message[]> {
    await this.#consumer.detach(call.deadline);
    if (this.#buffer.length > 0) return this.#buffer.splice(0, max);
    const taking = max === 1 ? this.#get() : this.#consumeOnce(max);
    const from = performance.now();
    const heard = this.wire.heardBytes;
    const taken = await within(taking, call.deadline);
    if (taken !== LATE) return taken;
    // What comes too late is nobody's: it goes back as it was.
    taking.then(
      (late) => void this.giveBack(late),
      () => undefined,
    );
    distrust(this.wire, heard, from);
    throw timedOut(call);
  }

  /** What has been delivered by now; asks only where no consumer brings jobs by itself. */
  async drain(max: number, call: Call): Promise<Message[]> {
    if (!this.#consumer.isAttached && this.#buffer.length === 0) return this.take(max, call);
    const messages = this.#buffer.splice(0, max);
    // Somebody asks: the consumer is kept for a moment longer.
    if (this.#linger !== null) this.#linger.refresh();
    return messages;
  }

  /** Waits for a first job. Resolves empty when the time is over, and with what it holds when the signal aborts. */
  wait(max: number, waitMs: number, signal: AbortSignal | null): Promise<Waited> {
    if (!this.#isOpen) return Promise.reject(new Error('channel closed'));
    if (this.#buffer.length > 0)
      return Promise.resolve({ messages: this.#buffer.splice(0, max), paused: false });
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
      };
      const end = (waited: Waited): void => {
        leave();
        if (this.#waiters.length === 0) this.#lingerOn();
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
        void this.#stopped().then(() => end({ messages: this.#buffer.splice(0, max), paused: false }));
      };
      const timer = setTimeout(() => end({ messages: [], paused: false }), Math.min(waitMs, 2 ** 31 - 1));
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiters.push(waiter);
      this.#fit();
    });
  }

  /** Ends waiting claims and gives back what they might have got. */
  async pause(): Promise<void> {
    const waiters = this.#waiters;
    this.#waiters = [];
    const isSure = await this.#consumer.detach(performance.now() + CANCEL_MS);
    for (const waiter of waiters) waiter.end({ messages: [], paused: true });
    await this.#giveUp(isSure);
  }

  /** Back into the queue, unharmed. */
  async giveBack(messages: readonly Message[]): Promise<void> {
    if (messages.length > 0 && this.#isOpen) await this.#events.unclaimed(this, messages);
  }

  /** Acknowledges; in one frame what can be. Throws when the channel is closed: nothing was sent then. */
  ack(tags: readonly number[]): void {
    this.#deliveries.ack(tags);
  }

  /** Back into the queue, counted by the broker on every version. */
  reject(tag: number): void {
    this.#deliveries.reject(tag);
  }

  /** Back into the queue, not counted from 4.3 on. */
  nack(tag: number): void {
    this.#deliveries.nack(tag);
  }

  /**
   * An acknowledgement has no answer. The channel does things in order, so the answer to a question that was asked after it says that it arrived. A
   * channel closed or a consumer cancelled meanwhile says that it came too late.
   */
  async barrier(call: Call): Promise<void> {
    await answered(this.wire, call, this.#channel.checkQueue(this.#name));
    if (!this.#isOpen) throw failure('BACKEND_UNAVAILABLE', 'The channel was closed.', call.operation);
  }

  close(): void {
    this.#end(new Error('channel closed'));
  }

  async #get(): Promise<Message[]> {
    const message = await this.#channel.get(this.#name);
    if (message === false) return [];
    this.#deliveries.add(message, null);
    return [message];
  }

  /** A consumer that is cancelled as soon as it was made: what is ready comes before the broker confirms the end. */
  async #consumeOnce(max: number): Promise<Message[]> {
    const taken: Message[] = [];
    const tag = randomUUID();
    const consumer: Consumer = { tag, prefetch: max, unacked: 0 };
    // Sent one after the other without a pause, so that no other claim's prefetch comes in between.
    const steps = [
      this.#channel.prefetch(max, false),
      this.#channel.consume(this.#name, (message) => this.#received(consumer, message, taken), {
        consumerTag: tag,
      }),
      this.#channel.cancel(tag),
    ];
    await Promise.all(steps);
    return taken;
  }

  #received(consumer: Consumer, message: Message | null, into: Message[]): void {
    // The queue is gone, or an acknowledgement was overdue: what this channel holds is not to be relied on any more.
    if (message === null) return this.#end(CANCELLED);
    this.#deliveries.add(message, consumer);
    into.push(message);
  }

  #arrived(consumer: Consumer, message: Message | null): void {
    this.#received(consumer, message, this.#buffer);
    if (this.#isFlushing || message === null) return;
    this.#isFlushing = true;
    // Once all that came in the same packet has been read.
    queueMicrotask(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#buffer.length > 0) {
      const waiter = this.#waiters[0];
      if (waiter === undefined) return this.#lingerOn();
      waiter.end({ messages: this.#buffer.splice(0, waiter.max), paused: false });
    }
  }

  /**
   * What is left unclaimed goes back. Over a channel that did not answer just now no copy may be made: its acknowledgement might never arrive, and the
   * job would be there twice. Rejected, it is charged at worst.
   */
  async #giveUp(isSure: boolean): Promise<void> {
    const left = this.#buffer.splice(0);
    if (isSure || !this.#isOpen) return this.giveBack(left);
    for (const { fields } of left) this.reject(fields.deliveryTag);
  }

  /** What the waiting claims ask for; 0: there is none. */
  #needed(): number {
    let max = 0;
    for (const waiter of this.#waiters) max += waiter.max;
    return max;
  }

  #fit(): void {
    if (!this.#isOpen) return;
    if (this.#linger !== null) clearTimeout(this.#linger);
    this.#linger = null;
    this.#consumer.fit();
  }

  /** The consumer is closed if no other claim needs it. */
  async #stopped(): Promise<void> {
    if (this.#waiters.length > 0) return;
    await this.#consumer.detach(performance.now() + CANCEL_MS).catch(() => false);
  }

  #lingerOn(): void {
    if (this.#linger !== null || !this.#isOpen) return;
    if (!this.#consumer.isAttached && this.#buffer.length === 0) return;
    this.#linger = setTimeout(() => {
      this.#linger = null;
      if (this.#waiters.length > 0) return;
      void this.#consumer.detach(performance.now() + CANCEL_MS).then((isSure) => {
        if (this.#waiters.length === 0) void this.#giveUp(isSure);
      });
    }, LINGER_MS);
  }

  #end(reason: unknown): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#linger !== null) clearTimeout(this.#linger);
    this.#consumer.end();
    this.#buffer.splice(0);
    this.#deliveries.clear();
    const waiters = this.#waiters;
    this.#waiters = [];
    // Closed at once: a second cancellation of a consumer that amqplib has forgotten would end the connection.
    this.#closeChannel();
    for (const waiter of waiters) waiter.fail(reason);
    this.#events.ended(this, reason, reason === CANCELLED);
  }

  #closeChannel(): void {
    try {
      this.#channel.close().catch(() => undefined);
    } catch {
      // It was closed already, which is what was wanted.
    }
  }
}
