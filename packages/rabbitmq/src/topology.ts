import { setTimeout as sleep } from 'node:timers/promises';
import type { Channel } from 'amqplib';
import { type Call, failure, LATE, timedOut, within } from './call.ts';
import { deadQueue, delayQueue, delaysQueue, type QueueDeclaration, readyQueue } from './declarations.ts';
import { LEVELS } from './ladder.ts';
import type { Names } from './names.ts';
import { fromNative, overLostConnections, replyCode } from './native-errors.ts';
import type { Line } from './wire/line.ts';
import { answered, distrust, onChannel, type Wire } from './wire/open-wire.ts';

/**
 * A quorum queue that is younger than about a second comes back empty, or not at all, when the broker is killed. No job is accepted into one before this
 * time has passed since its declaration; an exchange that is declared then tells other processes that it has.
 */
export const MATURE_MS = 1500;
/** The ladder is made in three parts, so that delays that grow from retry to retry wait for new levels three times at most: 32 s, 2 h, a year. */
export const LADDER_PARTS: readonly number[] = [8, 16, LEVELS - 1];

/** Something being made, or made. */
interface Making {
  readonly done: Promise<void>;
  /** Time has to pass: silence of the broker means nothing meanwhile. */
  isMaturing: boolean;
}

/** Makes queues when they are first needed, or checks that they were made. What was made is remembered per connection. */
export class Topology {
  readonly #line: Line;
  readonly #names: Names;
  readonly #declares: boolean;
  readonly #grown: (queue: string) => void;
  readonly #makings = new Map<string, Making>();
  /** When they were declared here; only those that may have been new. */
  readonly #declaredAt = new Map<string, number>();
  /** Were missing, although they had been there: their age is not what their marks say. */
  readonly #renewed = new Set<string>();
  /** The same of parts of ladders, by queue and highest level. */
  readonly #renewedParts = new Set<string>();
  #madeOn: Wire | null = null;

  /** `grown` is told when levels were made. */
  constructor(line: Line, names: Names, declares: boolean, grown: (queue: string) => void) {
    this.#line = line;
    this.#names = names;
    this.#declares = declares;
    this.#grown = grown;
  }

  /** The queue and its dead letters are there: it can be claimed from. */
  declared(queue: string, call: Call): Promise<void> {
    return this.#once(`${queue} declared`, call, async (wire) => {
      await onChannel(wire, async (channel) => {
        // Targets before what leads to them: a dead-lettered job without a target waits for minutes.
        await this.#queue(channel, deadQueue(this.#names, queue));
        await this.#queue(channel, readyQueue(this.#names, queue));
      });
      if (!this.#declaredAt.has(queue)) this.#declaredAt.set(queue, performance.now());
    });
  }

  /** They are old enough to keep what is put in. */
  async base(queue: string, call: Call): Promise<void> {
    await this.declared(queue, call);
    if (!this.#declares) return;
    await this.#once(`${queue} base`, call, async (wire, making) => {
      const mark = this.#names.mark(queue);
      if (!this.#renewed.has(queue) && (await exchangeExists(wire, mark))) return;
      await this.#mature(making, this.#declaredAt.get(queue) ?? performance.now());
      await onChannel(wire, (channel) => channel.assertExchange(mark, 'fanout', { durable: true }));
      this.#renewed.delete(queue);
    });
  }

  /** The ladder up to a level. */
  async ladder(queue: string, top: number, call: Call): Promise<void> {
    await this.base(queue, call);
    const end = LADDER_PARTS.find((last) => last >= top) ?? LEVELS - 1;
    await this.#once(`${queue} ladder ${end}`, call, (wire, making) =>
      this.#levels(wire, making, queue, end),
    );
  }

  /** Whether the part of the ladder that ends with a level stands. */
  async hasLadder(queue: string, top: number, call: Call): Promise<boolean> {
    const wire = await this.#line.get(call);
    return answered(wire, call, exchangeExists(wire, this.#names.delay(queue, top)));
  }

  /** The exchange that tells of pauses. */
  control(call: Call): Promise<void> {
    return this.#once('control', call, (wire) =>
      onChannel(wire, async (channel) => {
        const name = this.#names.control;
        if (this.#declares) await channel.assertExchange(name, 'fanout', { durable: true });
        else await channel.checkExchange(name);
      }),
    );
  }

  /** Something of this queue is missing: made again with the next call. */
  forget(queue: string): void {
    this.#renewed.add(queue);
    for (const top of LADDER_PARTS) this.#renewedParts.add(`${queue} ${top}`);
    this.#declaredAt.delete(queue);
    for (const key of this.#makings.keys()) if (key.startsWith(`${queue} `)) this.#makings.delete(key);
  }

  /** An exchange is missing, nobody knows which. */
  forgetAll(): void {
    this.#makings.clear();
  }

  async #levels(wire: Wire, making: Making, queue: string, top: number): Promise<void> {
    const names = this.#names;
    // Made last, once all up to this level are old enough.
    const isThere =
      !this.#renewedParts.has(`${queue} ${top}`) && (await exchangeExists(wire, names.delay(queue, top)));
    if (isThere) return;
    if (!this.#declares)
      throw failure(
        'SCHEMA_MISSING',
        `Level ${top} of the delays of queue "${queue}" is missing.`,
        'enqueue',
      );
    await onChannel(wire, async (channel) => {
      await this.#queue(channel, delaysQueue(names, queue));
      for (let level = 0; level <= top; level++) await this.#queue(channel, delayQueue(names, queue, level));
    });
    await this.#mature(making, performance.now());
    const parts = LADDER_PARTS.filter((part) => part <= top);
    await onChannel(wire, async (channel) => {
      for (const part of parts)
        await channel.assertExchange(names.delay(queue, part), 'fanout', { durable: true });
    });
    for (const part of parts) this.#renewedParts.delete(`${queue} ${part}`);
    this.#grown(queue);
  }

  async #mature(making: Making, since: number): Promise<void> {
    making.isMaturing = true;
    await sleep(Math.max(0, since + MATURE_MS - performance.now()));
    making.isMaturing = false;
  }

  async #queue(channel: Channel, { name, arguments: given }: QueueDeclaration): Promise<void> {
    if (this.#declares) await channel.assertQueue(name, { durable: true, arguments: given });
    else await channel.checkQueue(name);
  }

  async #once(key: string, call: Call, make: (wire: Wire, making: Making) => Promise<void>): Promise<void> {
    try {
      await overLostConnections(() => this.#tryOnce(key, call, make));
    } catch (native) {
      if (!this.#declares && replyCode(native) === 404) throw missing(call, native);
      throw fromNative(native, call.operation);
    }
  }

  async #tryOnce(
    key: string,
    call: Call,
    make: (wire: Wire, making: Making) => Promise<void>,
  ): Promise<void> {
    const wire = await this.#line.get(call);
    if (wire !== this.#madeOn) {
      // After a reconnect it may be another broker, or one that lost them.
      this.#makings.clear();
      this.#madeOn = wire;
    }
    const making = this.#makings.get(key) ?? this.#begin(key, wire, make);
    const from = performance.now();
    const heard = wire.heardBytes;
    if ((await within(making.done, call.deadline)) !== LATE) return;
    if (!making.isMaturing) distrust(wire, heard, from);
    throw timedOut(call);
  }

  #begin(key: string, wire: Wire, make: (wire: Wire, making: Making) => Promise<void>): Making {
    const { promise: done, resolve, reject } = Promise.withResolvers<void>();
    const making: Making = { done, isMaturing: false };
    this.#makings.set(key, making);
    make(wire, making).then(resolve, (error: unknown) => {
      if (this.#makings.get(key) === making) this.#makings.delete(key);
      reject(error instanceof Error ? error : new Error(String(error)));
    });
    // Whoever waits hears of it.
    done.catch(() => undefined);
    return making;
  }
}

async function exchangeExists(wire: Wire, name: string): Promise<boolean> {
  try {
    await onChannel(wire, (channel) => channel.checkExchange(name));
    return true;
  } catch (native) {
    if (replyCode(native) === 404) return false;
    throw native;
  }
}

function missing(call: Call, cause: unknown): Error {
  return failure(
    'SCHEMA_MISSING',
    'A queue or exchange of Surety is missing, and this process may not make it.',
    call.operation,
    { cause, remedy: 'Let a user that may declare run `surety migrate`, or set the option declare.' },
  );
}
