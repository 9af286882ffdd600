import { type Call, failure } from '../call.ts';
import { pausedQueue } from '../declarations.ts';
import type { Names } from '../names.ts';
import { fromNative, overLostConnections, replyCode } from '../native-errors.ts';
import type { Line } from '../wire/line.ts';
import { answered, onChannel, type Wire } from '../wire/open-wire.ts';

interface Known {
  readonly paused: boolean;
  readonly at: number;
}

/** What is told over the exchange: a queue may be paused or not any more, or its delayed jobs have to be looked at. */
export interface PauseEvents {
  readonly paused: (queue: string) => void;
  readonly delays: (queue: string) => void;
}

/** In front of the name of a queue; no name begins with it. */
const DELAYS = '+';

/** What tells all processes to look at the delayed jobs of a queue. */
export function noteOfDelays(queue: string): Buffer {
  return Buffer.from(`${DELAYS}${queue}`);
}

/** How long an answer is believed although nobody told of a change. Asking costs the broker a line in its log. */
const BELIEVED_MS = 60_000;

/**
 * Which queues are paused. The truth is a queue of the broker that exists while the pause lasts. Changes are told by an exchange, over the connection
 * that brings the jobs: while that stands nothing told is missed, and when it is made anew everything is asked again.
 */
export class Pauses {
  readonly #names: Names;
  readonly #control: Line;
  readonly #declares: boolean;
  readonly #changed: PauseEvents;
  readonly #known = new Map<string, Known>();
  readonly #asking = new Map<string, Promise<boolean>>();
  #told = 0;

  constructor(names: Names, control: Line, declares: boolean, changed: PauseEvents) {
    this.#names = names;
    this.#control = control;
    this.#declares = declares;
    this.#changed = changed;
  }

  /** Listens on a new connection for jobs. What was known before is forgotten: a change may have been missed. */
  async listen(wire: Wire): Promise<void> {
    const channel = await wire.channel();
    const { control } = this.#names;
    if (this.#declares) await channel.assertExchange(control, 'fanout', { durable: true });
    const { queue } = await channel.assertQueue('', { exclusive: true, durable: false, autoDelete: true });
    await channel.bindQueue(queue, control, '');
    await channel.consume(
      queue,
      (message) => {
        if (message === null) return wire.destroy('it would not hear of pauses any more');
        this.#hear(message.content.toString('utf8'));
      },
      { noAck: true },
    );
    channel.on('close', () => wire.destroy('it would not hear of pauses any more'));
    this.#known.clear();
    this.#told += 1;
  }

  /** As far as is known, without asking. */
  isKnownPaused(queue: string): boolean {
    return this.#known.get(queue)?.paused ?? false;
  }

  /** What is known and recent; null: it has to be asked. */
  known(queue: string): boolean | null {
    const known = this.#known.get(queue);
    return known !== undefined && performance.now() - known.at < BELIEVED_MS ? known.paused : null;
  }

  async isPaused(queue: string, call: Call): Promise<boolean> {
    return this.known(queue) ?? this.ask(queue, call);
  }

  /** Asks the broker. */
  async ask(queue: string, call: Call): Promise<boolean> {
    for (;;) {
      const told = this.#told;
      const paused = await this.#askOnce(queue, call);
      // Told of a change while the answer was on its way: it may be older than that.
      if (told !== this.#told && this.#known.get(queue) === undefined) {
        if (performance.now() >= call.deadline) return paused;
        continue;
      }
      this.set(queue, paused);
      return paused;
    }
  }

  set(queue: string, paused: boolean): void {
    this.#known.set(queue, { paused, at: performance.now() });
  }

  /** Makes or removes the mark. Afterwards others have to be told. */
  async mark(queue: string, paused: boolean, call: Call): Promise<void> {
    const wire = await this.#control.get(call);
    const { name, arguments: given } = pausedQueue(this.#names, queue);
    try {
      await answered(
        wire,
        call,
        onChannel(wire, async (channel) => {
          if (paused) await channel.assertQueue(name, { durable: true, arguments: given });
          else await channel.deleteQueue(name);
        }),
      );
    } catch (native) {
      throw fromNative(native, call.operation);
    }
    this.#forget(queue);
    if (paused) this.set(queue, true);
  }

  #hear(told: string): void {
    if (told.startsWith(DELAYS)) return this.#changed.delays(told.slice(DELAYS.length));
    this.#forget(told);
    this.#changed.paused(told);
  }

  #forget(queue: string): void {
    this.#told += 1;
    this.#known.delete(queue);
    this.#asking.delete(queue);
  }

  #askOnce(queue: string, call: Call): Promise<boolean> {
    const under = this.#asking.get(queue);
    const asking = under ?? overLostConnections(() => this.#exists(queue, call));
    this.#asking.set(queue, asking);
    const done = (): void => {
      if (this.#asking.get(queue) === asking) this.#asking.delete(queue);
    };
    asking.then(done, done);
    return asking;
  }

  async #exists(queue: string, call: Call): Promise<boolean> {
    const wire = await this.#control.get(call);
    try {
      await answered(
        wire,
        call,
        onChannel(wire, (channel) => channel.checkQueue(this.#names.paused(queue))),
      );
      return true;
    } catch (native) {
      if (replyCode(native) === 404) return false;
      throw native;
    }
  }
}

/** What pause and resume throw when the mark was set but could not be told. */
export function untold(operation: string, cause: unknown): Error {
  return failure(
    'BACKEND_OVERLOADED',
    'The change is stored, but the workers could not be told of it.',
    operation,
    {
      cause,
      remedy: `They learn of it within ${BELIEVED_MS / 1000} s; call again to tell them now.`,
    },
  );
}
