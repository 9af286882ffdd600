import { randomUUID } from 'node:crypto';
import type { Channel, Message } from 'amqplib';
import { startCall } from '../call.ts';
import { Deliveries } from '../claims/deliveries.ts';
import type { RecentCopies } from '../claims/recent-copies.ts';
import { stayUntil } from '../ladder.ts';
import { idOf } from '../message-body.ts';
import type { Names } from '../names.ts';
import { replyCode } from '../native-errors.ts';
import { newNonce } from '../wire/new-nonce.ts';
import type { Wire } from '../wire/open-wire.ts';
import type { Outgoing, Publisher } from '../wire/publisher.ts';
import type { BrokerClock } from './broker-clock.ts';
import { readStay, stayHeader } from './stay-header.ts';

/** What a pump works with. */
export interface PumpSetting {
  readonly names: Names;
  readonly clock: BrokerClock;
  readonly publisher: Publisher;
  /** Ids of jobs that were copied, or may have been, and whose originals stay too. */
  readonly doubled: (queue: string, ids: readonly string[]) => void;
  /** A queue to which a job was to go is missing. */
  readonly stray: (queue: string) => void;
}

/** One that was brought and may not leave yet. */
interface Waiting {
  readonly message: Message;
  readonly leavesAt: number;
}

/** A job that leaves later than this is put back meanwhile, so that it is counted. */
const HOLD_MS = 400;
/** Put back, a level is looked at again a little early, to be ready in time. */
const EARLY_MS = 50;
/** And at least this often. */
const LOOK_MS = 60_000;
/** As many of each level at once. */
const PREFETCH = 200;
const MOVE: { readonly timeoutMs: number } = { timeoutMs: 5000 };
/** After copies that were not stored. */
const PAUSE_MS = 500;

/**
 * Moves the delayed jobs of one queue from level to level and out of the ladder, each by a confirmed copy and then an acknowledgement. The broker could do it
 * by itself, but what it dead-letters while a leader is lost stays behind for minutes. One pump per queue works at a time; were it two, each job would still
 * be moved by the one that holds it.
 */
export class Pump {
  readonly #wire: Wire;
  readonly #channel: Channel;
  readonly #queue: string;
  readonly #setting: PumpSetting;
  readonly #deliveries: Deliveries;
  readonly #ended = Promise.withResolvers<void>();
  readonly #sleepers = new Set<() => void>();
  readonly #recent: RecentCopies;
  #isOpen = true;
  #levels = 0;
  #isRetiring = false;
  readonly #tending = new Set<Promise<void>>();

  /** `recent` hears of what was moved. */
  constructor(wire: Wire, channel: Channel, queue: string, setting: PumpSetting, recent: RecentCopies) {
    this.#wire = wire;
    this.#channel = channel;
    this.#queue = queue;
    this.#setting = setting;
    this.#recent = recent;
    // A kill right after leaves both copies of what was not written yet, as one before the acknowledgement does.
    this.#deliveries = new Deliveries(channel, null);
    channel.on('error', (error) => (replyCode(error) === 404 ? this.#lost() : this.#end()));
    channel.on('close', () => this.#end());
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Resolves when its channel is gone. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Works from here on with so many levels. */
  async work(levels: number): Promise<void> {
    if (this.#levels === 0) await this.#channel.prefetch(PREFETCH, false);
    for (; this.#levels < levels && !this.#isRetiring; this.#levels++) {
      const tending: Promise<void> = this.#tend(this.#levels).finally(() => this.#tending.delete(tending));
      this.#tending.add(tending);
    }
  }

  /** Something changed: every level is looked at. */
  look(): void {
    for (const wake of this.#sleepers) wake();
  }

  /** Ends what is under way; what it holds goes back as it was. */
  async close(): Promise<void> {
    this.#isRetiring = true;
    this.look();
    await Promise.allSettled(this.#tending);
    this.#end();
    await this.#channel.close().catch(() => undefined);
  }

  async #tend(level: number): Promise<void> {
    try {
      while (this.#isOpen && !this.#isRetiring) {
        const leavesInMs = await this.#serve(level);
        await this.#sleep(Math.min(LOOK_MS, leavesInMs - EARLY_MS));
      }
    } catch {
      // The channel is of no use any more; whoever made the pump makes another.
      this.#end();
      this.#channel.close().catch(() => undefined);
    }
  }

  /** Moves what is due until the next is far off; the time until then. An empty level is listened to. */
  async #serve(level: number): Promise<number> {
    const tag = randomUUID();
    let held: Waiting[] = [];
    let arrived = Promise.withResolvers<void>();
    await this.#channel.consume(
      this.#setting.names.delay(this.#queue, level),
      (message) => {
        if (message === null) return this.#lost();
        this.#deliveries.add(message, null);
        held.push({ message, leavesAt: readStay(message).leavesAt });
        arrived.resolve();
      },
      { consumerTag: tag },
    );
    let nextMs = 0;
    while (this.#isOpen && !this.#isRetiring) {
      arrived = Promise.withResolvers<void>();
      const now = this.#setting.clock.earliest();
      const due = held.filter(({ leavesAt }) => leavesAt <= now);
      if (due.length > 0) {
        held = held.filter(({ leavesAt }) => leavesAt > now);
        await this.#move(
          due.map(({ message }) => message),
          now,
        );
        continue;
      }
      nextMs = Math.min(...held.map(({ leavesAt }) => leavesAt)) - now;
      if (held.length > 0 && nextMs > HOLD_MS) break;
      await Promise.race([arrived.promise, this.#sleep(nextMs)]);
    }
    if (!this.#isOpen) return 0;
    await this.#channel.cancel(tag);
    for (const { message } of held) this.#deliveries.reject(message.fields.deliveryTag);
    return nextMs;
  }

  async #move(messages: readonly Message[], now: number): Promise<void> {
    const copies = messages.map((message) => this.#copyOf(message, now));
    const results = await this.#setting.publisher.publish(copies, startCall('claim', MOVE));
    const having = (...wanted: readonly string[]): Message[] =>
      messages.filter((_, index) => wanted.includes(results[index]?.status ?? 'unknown'));
    const doubled = having('unknown', ...(this.#isOpen ? [] : ['stored']));
    if (doubled.length > 0) this.#setting.doubled(this.#queue, doubled.map(idOf));
    if (results.some((result) => result.status === 'refused' && result.unroutable))
      this.#setting.stray(this.#queue);
    if (!this.#isOpen) return;
    const stored = having('stored');
    this.#recent.add(stored);
    // At once: the copy may be running in this process already, and what ends the process would leave both.
    this.#wire.together(this.#channel, () => {
      this.#deliveries.ack(stored.map(({ fields }) => fields.deliveryTag));
    });
    const left = having('unknown', 'refused');
    if (left.length === 0) return;
    await this.#sleep(PAUSE_MS);
    if (this.#isOpen) for (const { fields } of left) this.#deliveries.reject(fields.deliveryTag);
  }

  #copyOf(message: Message, now: number): Outgoing {
    const { names } = this.#setting;
    const stay = stayUntil(readStay(message).dueAt, now);
    return {
      exchange: '',
      key: stay === null ? names.ready(this.#queue) : names.delay(this.#queue, stay.level),
      body: message.content,
      // Nothing that the broker added goes back to it.
      options: { messageId: newNonce(), ...(stay !== null && { headers: stayHeader(stay) }) },
    };
  }

  /** May end early. */
  #sleep(ms: number): Promise<void> {
    if (!(ms > 0) || !this.#isOpen || this.#isRetiring) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#sleepers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.min(ms, LOOK_MS));
      timer.unref();
      this.#sleepers.add(wake);
    });
  }

  /** A level was deleted. */
  #lost(): void {
    this.#setting.stray(this.#queue);
    this.#end();
    this.#channel.close().catch(() => undefined);
  }

  #end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#deliveries.clear();
    this.look();
    this.#ended.resolve();
  }
}
