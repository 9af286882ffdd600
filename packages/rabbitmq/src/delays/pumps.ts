import type { Channel } from 'amqplib';
import { type Call, startCall } from '../call.ts';
import { RecentCopies } from '../claims/recent-copies.ts';
import { replyCode } from '../native-errors.ts';
import { LADDER_PARTS, type Topology } from '../topology.ts';
import type { Line } from '../wire/line.ts';
import { answered, onChannel, type Wire } from '../wire/open-wire.ts';
import { Pump, type PumpSetting } from './pump.ts';

/** What pumps need beside. */
export interface PumpsSetting extends PumpSetting {
  readonly topology: Topology;
  readonly control: Line;
  /** Delayed jobs come and are acknowledged here. */
  readonly line: Line;
}

const STEP: { readonly timeoutMs: number } = { timeoutMs: 5000 };
/** How often each process looks whether somebody moves the delayed jobs of a queue; less often where it has very many queues. */
const LOOK_MS = 2000;
const MANY_QUEUES = 20;
const MOST_MS = 30_000;
/**
 * A pump is made anew so many looks later. RabbitMQ can lose a delivery with the leader of the queue: it counts as delivered and never arrives. Only the end of
 * the channel brings it back.
 */
const RENEW = 6;
/** And whether a queue has delayed jobs at all; whoever makes a ladder tells of it. */
const NONE_MS = 60_000;

/** One pump per queue, in whichever process came first. The others look every two seconds whether it still works. */
export class Pumps {
  readonly #setting: PumpsSetting;
  readonly #queues = new Map<string, Candidate>();
  #isStopped = false;

  constructor(setting: PumpsSetting) {
    this.#setting = setting;
  }

  get #lookMs(): number {
    return Math.min(MOST_MS, LOOK_MS * Math.max(1, this.#queues.size / MANY_QUEUES));
  }

  meet(queue: string): void {
    if (this.#isStopped || this.#queues.has(queue)) return;
    this.#queues.set(queue, new Candidate(queue, this.#setting, () => this.#lookMs));
  }

  /** Its ladder has grown, or who pumped has gone; null: any may have. */
  look(queue: string | null): void {
    if (queue !== null) return this.#queues.get(queue)?.look();
    for (const candidate of this.#queues.values()) candidate.look();
  }

  /** Queues whose jobs this process has moved until now: others should hear of the end. */
  async stop(): Promise<readonly string[]> {
    this.#isStopped = true;
    const left = await Promise.all([...this.#queues.values()].map((candidate) => candidate.stop()));
    return left.flatMap((queue) => queue ?? []);
  }
}

/** One process that may move the delayed jobs of one queue. */
class Candidate {
  readonly #queue: string;
  readonly #setting: PumpsSetting;
  /** Outlives the pumps: it is the end of the connection that may undo what they did. */
  readonly #recent = new RecentCopies();
  #pump: Pump | null = null;
  /** Levels that are known to stand, and when it was asked for more: asking for what is missing costs the broker a line in its log. */
  #levels = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #wake: () => void = () => undefined;
  /** There was a reason to look while it did not sleep: it must not sleep over it. */
  #isCalled = false;
  readonly #lookMs: () => number;
  #isStopped = false;

  constructor(queue: string, setting: PumpsSetting, lookMs: () => number) {
    this.#queue = queue;
    this.#setting = setting;
    this.#lookMs = lookMs;
    void this.#run();
  }

  look(): void {
    this.#askedAt = Number.NEGATIVE_INFINITY;
    this.#isCalled = true;
    this.#wake();
  }

  /** Its queue, if it moved the jobs until now. */
  async stop(): Promise<string | null> {
    this.#isStopped = true;
    this.#wake();
    const isAtWork = this.#pump !== null;
    await this.#pump?.close();
    return isAtWork ? this.#queue : null;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const lookAgainMs = await this.#turn().catch(() => this.#lookMs());
      // Not in step with other processes.
      if (!this.#isStopped) await this.#sleep(lookAgainMs * (0.75 + Math.random() / 2));
    }
  }

  /** Works for as long as it can, if nobody else does; how long to wait then. */
  async #turn(): Promise<number> {
    const { control, clock, line, names } = this.#setting;
    const call = startCall('claim', STEP);
    const lock = names.delays(this.#queue);
    const holders = await this.#holders(await control.get(call), lock, call);
    if (holders === null) return NONE_MS;
    if (holders > 0) return this.#lookMs();
    await clock.known(call);
    const wire = await line.get(call);
    const place = await answered(wire, call, wire.channel());
    let isHeld = true;
    let isLeaving = false;
    place.on('close', () => {
      isHeld = false;
      if (!isLeaving && !this.#isStopped) this.#setting.doubled(this.#queue, this.#recent.take());
      this.#wake();
    });
    try {
      if (!(await answered(wire, call, hold(place, lock)))) return LOOK_MS / 4;
      while (isHeld && !this.#isStopped) await this.#pumpOn(wire);
      return 0;
    } finally {
      isLeaving = true;
      place.close().catch(() => undefined);
    }
  }

  /** One pump, for some time. */
  async #pumpOn(wire: Wire): Promise<void> {
    const pump = new Pump(
      wire,
      await answered(wire, startCall('claim', STEP), wire.channel()),
      this.#queue,
      this.#setting,
      this.#recent,
    );
    this.#pump = pump;
    try {
      await this.#extend(pump);
      await Promise.race([pump.ended, this.#sleep(RENEW * this.#lookMs())]);
      // One that came to its end by itself, such as by a missing queue, would come to it at once again.
      if (pump.isOpen) return;
      this.#levels = 0;
      this.#askedAt = Number.NEGATIVE_INFINITY;
      await this.#sleep(LOOK_MS / 2);
    } finally {
      await pump.close();
      this.#pump = null;
    }
  }

  /** How many move delayed jobs; null: there is no ladder. */
  async #holders(wire: Wire, lock: string, call: Call): Promise<number | null> {
    try {
      const { consumerCount } = await answered(
        wire,
        call,
        onChannel(wire, (channel) => channel.checkQueue(lock)),
      );
      return consumerCount;
    } catch (native) {
      if (replyCode(native) === 404) return null;
      throw native;
    }
  }

  async #extend(pump: Pump): Promise<void> {
    const { topology } = this.#setting;
    const isOld = performance.now() - this.#askedAt > NONE_MS;
    if (isOld) this.#askedAt = performance.now();
    for (const top of LADDER_PARTS) {
      if (top < this.#levels) continue;
      if (!isOld || !(await topology.hasLadder(this.#queue, top, startCall('claim', STEP)))) break;
      this.#levels = top + 1;
    }
    if (this.#levels > 0) await pump.work(this.#levels);
  }

  #sleep(ms: number): Promise<void> {
    const isCalled = this.#isCalled;
    this.#isCalled = false;
    if (this.#isStopped || isCalled) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#wake = () => undefined;
        this.#isCalled = false;
        resolve();
      };
      const timer = setTimeout(end, ms);
      timer.unref();
      this.#wake = end;
    });
  }
}

/** Whoever listens to the queue moves the jobs. False: somebody else was faster. */
async function hold(channel: Channel, lock: string): Promise<boolean> {
  await channel.consume(lock, () => undefined, { noAck: true });
  return (await channel.checkQueue(lock)).consumerCount <= 1;
}
