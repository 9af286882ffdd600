import type { Channel, ConsumeMessage } from 'amqplib';
import { type Call, LATE, startCall, timedOut, within } from '../call.ts';
import { fromNative, overLostConnections } from '../native-errors.ts';
import type { Line } from '../wire/line.ts';
import type { Wire } from '../wire/open-wire.ts';

/** One question: sent at `from` and answered by `to`, both by the monotonic clock; the broker's clock showed this second in between. */
export interface Reading {
  readonly from: number;
  readonly to: number;
  readonly second: number;
}

/** Two clocks of crystals do not part faster. */
const DRIFT = 2e-4;
/** Good enough to delay by. */
const KNOWN_MS = 60;
/** Good enough to ask but rarely. */
const FINE_MS = 12;
const SCAN_EVERY_MS = 30;
const REFRESH_MS = 30_000;
const ANSWER: { readonly timeoutMs: number } = { timeoutMs: 3000 };

/** Between what bounds the broker's clock is ahead of the monotonic clock of this process. */
export class ClockBounds {
  #low = Number.NEGATIVE_INFINITY;
  #high = Number.POSITIVE_INFINITY;
  #at = 0;

  /** Each reading narrows the bounds; one that fits none of before says that the clock was set, or is another one. */
  add({ from, to, second }: Reading): void {
    const [low, high] = [second * 1000 - to, second * 1000 + 1000 - from];
    const before = this.at(to);
    this.#low = Math.max(low, before.low);
    this.#high = Math.min(high, before.high);
    if (this.#low > this.#high) [this.#low, this.#high] = [low, high];
    this.#at = to;
  }

  at(now: number): { readonly low: number; readonly high: number } {
    const drift = Math.max(0, now - this.#at) * DRIFT;
    return { low: this.#low - drift, high: this.#high + drift };
  }

  width(now: number): number {
    const { low, high } = this.at(now);
    return high - low;
  }
}

/**
 * The clock of the broker. AMQP has no question for it; but what the broker dead-letters carries the second in which it did, and a question asked about
 * where the second changes tells to the millisecond. By this clock delays are stamped and judged, so that the clocks of hosts may be wrong.
 */
export class BrokerClock {
  readonly #line: Line;
  readonly #bounds = new ClockBounds();
  readonly #woken: (() => void)[] = [];
  #asker: { readonly wire: Wire; readonly ask: () => Promise<Reading> } | null = null;
  #roundTripMs = Number.POSITIVE_INFINITY;
  #lastError: unknown = null;
  #isStarted = false;
  #isStopped = false;

  constructor(line: Line) {
    this.#line = line;
  }

  /** The earliest that it may show now. */
  earliest(): number {
    const now = performance.now();
    return now + this.#bounds.at(now).low;
  }

  latest(): number {
    const now = performance.now();
    return now + this.#bounds.at(now).high;
  }

  /** Waits until it is known, which takes a second once per session. */
  async known(call: Call): Promise<void> {
    this.start();
    if (this.#isKnown) return;
    const known = new Promise<void>((resolve) => this.#woken.push(resolve));
    if ((await within(known, call.deadline)) !== LATE) return;
    throw this.#lastError === null ? timedOut(call) : fromNative(this.#lastError, call.operation);
  }

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    void this.#run();
  }

  stop(): void {
    this.#isStopped = true;
  }

  get #isKnown(): boolean {
    return this.#isWithin(KNOWN_MS);
  }

  /** Over a slow line it cannot be told as exactly. */
  #isWithin(ms: number): boolean {
    const roundTripMs = Number.isFinite(this.#roundTripMs) ? this.#roundTripMs : 0;
    return this.#bounds.width(performance.now()) <= Math.max(ms, 2 * roundTripMs);
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const call = startCall('open', ANSWER);
      try {
        await overLostConnections(() => this.#read(call));
      } catch (error) {
        this.#asker = null;
        this.#lastError = error;
        await pause(1000);
      }
      await pause(this.#untilNext());
    }
  }

  async #read(call: Call): Promise<void> {
    const wire = await this.#line.get(call);
    if (this.#asker?.wire !== wire) this.#asker = { wire, ask: await askerOn(wire) };
    const reading = await within(this.#asker.ask(), call.deadline);
    if (reading === LATE) throw timedOut(call);
    this.#roundTripMs = Math.min(this.#roundTripMs, reading.to - reading.from);
    this.#lastError = null;
    this.#bounds.add(reading);
    if (this.#isKnown) for (const wake of this.#woken.splice(0)) wake();
  }

  #untilNext(): number {
    const now = performance.now();
    if (!this.#isKnown) return SCAN_EVERY_MS;
    if (this.#isWithin(FINE_MS)) return REFRESH_MS;
    // So that the broker reads it where the second is thought to change: either way the bounds are halved.
    const { low, high } = this.#bounds.at(now);
    const shown = now + this.#roundTripMs / 2 + (low + high) / 2;
    return 1000 - (shown % 1000);
  }
}

/** A queue whose messages are over at once leads to a queue that is listened to. Both belong to the connection. */
async function askerOn(wire: Wire): Promise<() => Promise<Reading>> {
  const channel = await wire.channel();
  const own = { exclusive: true, durable: false, autoDelete: true };
  const { queue: answers } = await channel.assertQueue('', own);
  const { queue: questions } = await channel.assertQueue('', {
    ...own,
    autoDelete: false,
    arguments: {
      'x-message-ttl': 0,
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': answers,
    },
  });
  let answer: (reading: Reading) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  channel.on('close', () => fail(new Error('channel closed')));
  await channel.consume(
    answers,
    (message) => {
      const second = message === null ? null : secondIn(message);
      if (message === null || second === null) return fail(new Error('channel closed: no time was told'));
      answer({ from: Number(message.content.toString()), to: performance.now(), second });
    },
    { noAck: true },
  );
  return () =>
    ask(channel, questions, (resolve, reject) => {
      answer = resolve;
      fail = reject;
    });
}

function ask(
  channel: Channel,
  questions: string,
  expect: (resolve: (reading: Reading) => void, reject: (error: Error) => void) => void,
): Promise<Reading> {
  return new Promise((resolve, reject) => {
    expect(resolve, reject);
    channel.sendToQueue(questions, Buffer.from(String(performance.now())));
  });
}

/** Seconds since the epoch at which the broker dead-lettered it. */
function secondIn({ properties }: ConsumeMessage): number | null {
  const [death] = (properties.headers?.['x-death'] ?? []) as readonly {
    readonly time?: { readonly value?: unknown };
  }[];
  const second = death?.time?.value;
  return typeof second === 'number' ? second : null;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
