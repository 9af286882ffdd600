import type { Channel, Message } from 'amqplib';
import { type Call, failure, LATE, timedOut, within } from '../call.ts';
import { answered, distrust, type Wire } from '../wire/open-wire.ts';
import { Acknowledgements, type AcknowledgingChannel, NOT_SENT } from './acknowledgements.ts';
import { Arrivals } from './arrivals.ts';
import { askLeader } from './ask-leader.ts';
import { type Consumer, Deliveries } from './deliveries.ts';
import { FittedConsumer } from './fitted-consumer.ts';
import { Handing } from './handing.ts';
import { CANCELLED, type LaneEvents, RENEWED } from './lane-events.ts';
import { takeReady } from './take-ready.ts';
import { Unproven } from './unproven.ts';
import { type Waited, Waiters } from './waiters.ts';

/** How long a consumer is kept open after a claim, for the next one. */
const LINGER_MS = 50;
/** For jobs to prove what was acknowledged before: a write takes a slow disk some ms. */
const PROVEN_MS = 10;
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
  readonly #acknowledgements: Acknowledgements = new Acknowledgements({
    send: (tags) => this.#sendAcks(tags),
    makeRoom: () => this.#makeRoom(),
  });
  readonly #unproven: Unproven = new Unproven();
  readonly #arrivals: Arrivals = new Arrivals(() => this.#handing.arrived());
  readonly #waiters: Waiters = new Waiters();
  readonly #handing: Handing = new Handing(this.#arrivals, this.#waiters, () => this.#lingerOn());
  /** By calls that do not wait for a delivery, only for a consumer. */
  #asked = 0;
  readonly #consumer: FittedConsumer;
  #linger: NodeJS.Timeout | null = null;
  #isOpen = true;
  /** Ready jobs in the broker's queue, as far as known. */
  #behind = 0;
  #heardAt: number = performance.now();

  constructor(wire: Wire, channel: Channel, queue: string, name: string, events: LaneEvents) {
    this.wire = wire;
    this.queue = queue;
    this.#name = name;
    this.#channel = channel;
    this.#events = events;
    this.#deliveries = new Deliveries(channel, this.#unproven);
    this.#consumer = new FittedConsumer(channel, name, {
      // What has arrived is as good as theirs.
      needed: () => Math.max(0, this.#asked + this.#waiters.asked - this.#arrivals.count),
      received: (consumer, message) => {
        this.#received(consumer, message);
        if (message !== null) this.#arrivals.add(message);
      },
      changed: () => (this.#waiters.size > 0 || this.#asked > 0 ? this.#fit() : this.#lingerOn()),
      failed: (error) => this.#end(error),
      logged: (question) => this.#unproven.behind(question),
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
    return this.#arrivals.count;
  }

  /** For how long nothing was held or brought. */
  get quietMs(): number {
    return this.#deliveries.isEmpty ? performance.now() - this.#heardAt : 0;
  }

  get isWaiting(): boolean {
    return this.#waiters.size > 0 || this.#consumer.isAttached;
  }

  /** Asks once. */
  async take(max: number, call: Call): Promise<Message[]> {
    await this.#consumer.detach(call.deadline);
    if (this.#arrivals.count > 0) return this.#arrivals.take(max);
    const taking = this.#takeReady(max);
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

  /** What has been delivered by now. Where no consumer brings jobs one is made, and goes on bringing them: whoever calls this calls it again. */
  async drain(max: number, call: Call): Promise<Message[]> {
    if (!this.#consumer.isAttached && this.#arrivals.count === 0) await this.#attach(max, call);
    // Delivered, or ready and certain to be brought.
    const coming = this.#arrivals.count + Math.min(this.#behind, this.#consumer.room);
    const messages = await this.#arrivals.gather(max, coming);
    this.#handing.hand();
    this.#lingerOn();
    return messages;
  }

  /** Waits for a first job. Resolves empty when the time is over, and with what it holds when the signal aborts. */
  async wait(max: number, waitMs: number, signal: AbortSignal | null): Promise<Waited> {
    if (this.#arrivals.count > 0) {
      const messages = await this.#handing.take(max);
      if (messages.length > 0 || signal?.aborted === true) return { messages, paused: false };
    }
    if (!this.#isOpen) throw new Error('channel closed');
    const waited = this.#waiters.add({
      max,
      waitMs,
      signal,
      aborted: async () => {
        // The consumer is closed if no other claim needs it.
        if (this.#waiters.size === 0) await this.#consumer.detach(performance.now() + CANCEL_MS);
        return this.#arrivals.take(max);
      },
      ended: () => {
        if (this.#waiters.size === 0) this.#lingerOn();
      },
    });
    this.#fit();
    return waited;
  }

  /** Ends waiting claims and gives back what they might have got. */
  async pause(): Promise<void> {
    const waiters = this.#waiters.takeAll();
    const isSure = await this.#consumer.detach(performance.now() + CANCEL_MS);
    for (const waiter of waiters) waiter.end({ messages: [], paused: true });
    await this.#giveUp(isSure);
  }

  /** Back into the queue, unharmed. */
  async giveBack(messages: readonly Message[]): Promise<void> {
    if (messages.length > 0 && this.#isOpen) await this.#events.unclaimed(this, messages);
  }

  /** Back into the queue, counted by the broker on every version. */
  reject(tag: number): void {
    this.#deliveries.reject(tag);
    this.#lingerOn();
  }

  /** Back into the queue, not counted from 4.3 on. */
  nack(tag: number): void {
    this.#deliveries.nack(tag);
    this.#lingerOn();
  }

  /** An acknowledgement has no answer, but a question asked behind it has. A channel closed or a consumer cancelled meanwhile: it came too late. */
  async barrier(call: Call): Promise<void> {
    await answered(this.wire, call, this.#ask());
    if (!this.#isOpen) throw failure('BACKEND_UNAVAILABLE', 'The channel was closed.', call.operation);
  }

  /** Acknowledges, and resolves once the broker has taken it in; `NOT_SENT`: the jobs were back in the queue before. */
  async acknowledge(tags: readonly number[], call: Call): Promise<void | typeof NOT_SENT> {
    const arrived = await answered(this.wire, call, this.#acknowledgements.add(tags));
    if (arrived !== NOT_SENT && !this.#isOpen)
      throw failure('BACKEND_UNAVAILABLE', 'The channel was closed.', call.operation);
    return arrived;
  }

  close(): void {
    this.#end(new Error('channel closed'));
  }

  /** Gives up the channel if nothing is held over it. Whoever waits is told so, and waits on. */
  async renew(): Promise<void> {
    const waiters = this.#waiters.takeAll();
    await this.#consumer.detach(performance.now() + CANCEL_MS).catch(() => false);
    // What came at the last moment is left to whoever waits on.
    if (this.#deliveries.isEmpty && this.#waiters.size === 0 && this.#asked === 0) this.#end(RENEWED);
    for (const waiter of waiters) waiter.end({ messages: [], paused: false, renewed: true });
  }

  /** Resolves once the consumer stands: what was ready has arrived by then, or is about to. */
  async #attach(max: number, call: Call): Promise<void> {
    this.#asked += max;
    try {
      this.#fit();
      await answered(this.wire, call, this.#consumer.changed());
    } finally {
      this.#asked -= max;
    }
  }

  #sendAcks(tags: readonly number[]): ReturnType<AcknowledgingChannel['send']> {
    if (!this.#isOpen) throw new Error('channel closed');
    // In one packet: one by one each would wake the broker.
    return this.wire.together(this.#channel, () => {
      const left = this.#deliveries.ack(tags);
      this.#handing.acknowledged();
      this.#lingerOn();
      return { left, arrived: this.#ask() };
    });
  }

  /**
   * What the next jobs prove costs nothing. Where none come the queue is asked for one, which is answered by way of its log, and mostly in vain: a consumer has
   * been brought what was ready. To cancel the consumer would prove as much, but what is on its way then is charged.
   */
  async #makeRoom(): Promise<void> {
    if (this.#unproven.room === 0 && this.#consumer.isAttached && this.#behind > 0)
      await within(this.#unproven.changed(), performance.now() + PROVEN_MS);
    while (this.#isOpen && this.#unproven.room === 0) {
      const [message] = await this.#takeReady(1);
      if (message === undefined) continue;
      if (this.#consumer.isAttached) this.#arrivals.add(message);
      else await this.giveBack([message]);
    }
  }

  #takeReady(max: number): Promise<Message[]> {
    const received = (...delivery: readonly [Consumer | null, Message | null]): void =>
      this.#received(...delivery);
    return this.#unproven.behind(() => takeReady(this.#channel, this.#name, max, received));
  }

  async #ask(): Promise<void> {
    this.#behind = await askLeader(this.#channel, this.#name, () => this.#consumer.isAttached);
  }

  #received(consumer: Consumer | null, message: Message | null): void {
    // The queue is gone, or an acknowledgement was overdue: what this channel holds is not to be relied on any more.
    if (message === null) this.#end(CANCELLED);
    else this.#deliveries.add(message, consumer);
    this.#heardAt = performance.now();
  }

  /**
   * What is left unclaimed goes back. Over a channel that did not answer just now no copy may be made: its acknowledgement might never arrive, and the
   * job would be there twice. Rejected, it is charged at worst.
   */
  async #giveUp(isSure: boolean): Promise<void> {
    const left = this.#arrivals.take(Number.POSITIVE_INFINITY);
    if (isSure || !this.#isOpen) return this.giveBack(left);
    for (const { fields } of left) this.reject(fields.deliveryTag);
  }

  #fit(): void {
    if (!this.#isOpen) return;
    if (this.#linger !== null) clearTimeout(this.#linger);
    this.#linger = null;
    this.#consumer.fit();
  }

  /** From the last claim, arrival or acknowledgement on: what is on its way when a consumer is cancelled the broker takes back, charged. */
  #lingerOn(): void {
    if (!this.#isOpen) return;
    if (this.#linger !== null) return void this.#linger.refresh();
    if (!this.#consumer.isAttached && this.#arrivals.count === 0) return;
    this.#linger = setTimeout(() => {
      this.#linger = null;
      if (this.#waiters.size > 0) return;
      void this.#consumer.detach(performance.now() + CANCEL_MS).then((isSure) => {
        if (this.#waiters.size === 0) void this.#giveUp(isSure);
      });
    }, LINGER_MS);
  }

  #end(reason: unknown): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#linger !== null) clearTimeout(this.#linger);
    this.#consumer.end();
    this.#arrivals.take(Number.POSITIVE_INFINITY);
    this.#deliveries.clear();
    const waiters = this.#waiters.takeAll();
    // Closed at once: a second cancellation of a consumer that amqplib has forgotten would end the connection.
    this.#channel.close().catch(() => undefined);
    for (const waiter of waiters) waiter.fail(reason);
    this.#events.ended(this, reason, reason === CANCELLED);
  }
}
