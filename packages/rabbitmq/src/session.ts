import type { Notice } from '@surety/core/contract';
import type { Message } from 'amqplib';
import { type Call, failure, startCall } from './call.ts';
import { HeldLeases } from './claims/held.ts';
import { Lanes } from './claims/lanes.ts';
import { Pauses } from './claims/pauses.ts';
import { decode } from './envelope.ts';
import { routeFor } from './ladder.ts';
import { Moves } from './moves.ts';
import { type Names, namesOf } from './names.ts';
import { fromNative } from './native-errors.ts';
import type { ResolvedOptions } from './options.ts';
import { Topology } from './topology.ts';
import { Line } from './wire/line.ts';
import { openWire, type Wire } from './wire/open-wire.ts';
import { Publisher } from './wire/publisher.ts';
import { isTooOld } from './wire/version.ts';

/** A pause that was told has to be looked up in this time. */
const ASK: { readonly timeoutMs: number } = { timeoutMs: 5000 };
const HOUR_MS = 3_600_000;

/** What a session tells. */
export interface SessionEvents {
  readonly notify: (notice: Notice) => void;
  /** `null`: the broker answers. */
  readonly heard: (line: string, trouble: unknown) => void;
}

/** From one `open` to the next `close`: the connections and all that lives on them. */
export class Session {
  readonly names: Names;
  readonly topology: Topology;
  readonly publisher: Publisher;
  readonly moves: Moves;
  readonly held: HeldLeases;
  readonly lanes: Lanes;
  readonly pauses: Pauses;
  /** Queues, dead letters, pauses and counts: no job is held over it, so it may be cut. */
  readonly control: Line;
  /** Queues that this session has met. */
  readonly met: Set<string> = new Set();
  readonly #options: ResolvedOptions;
  readonly #events: SessionEvents;
  readonly #consumer: Line;
  readonly #producer: Line;
  #closed = false;

  constructor(options: ResolvedOptions, events: SessionEvents) {
    this.#options = options;
    this.#events = events;
    this.names = namesOf(options.prefix);
    this.control = this.#line('control', async () => undefined);
    this.#producer = this.#line('producer', async () => undefined);
    this.#consumer = this.#line('consumer', (wire) => this.pauses.listen(wire));
    this.topology = new Topology(this.control, this.names, options.declare);
    this.publisher = new Publisher(this.#producer, () => this.topology.forgetAll());
    this.pauses = new Pauses(
      this.names,
      this.control,
      options.declare,
      (queue) => void this.#pauseChanged(queue),
    );
    this.moves = new Moves(this.names, this.topology, this.publisher, this.met);
    this.lanes = new Lanes({
      names: this.names,
      moves: this.moves,
      publisher: this.publisher,
      line: this.#consumer,
      ended: (queue, reason, missing) => this.#laneEnded(queue, reason, missing),
      doubled: (queue, messages) => this.#doubled(queue, messages),
    });
    this.held = new HeldLeases((held) => this.lanes.expire(held));
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  async open(call: Call): Promise<void> {
    const wire = await this.control.first(call);
    if (isTooOld(wire)) {
      const what = `RabbitMQ is of version ${wire.version}; 3.10 or later is needed.`;
      throw failure('STORE_UNSUITABLE', what, 'open', { remedy: 'Update the broker.' });
    }
    await this.topology.control(call);
    const { queues } = this.#options;
    await Promise.all(
      queues.map((queue) => this.topology.ladder(queue, routeFor(HOUR_MS)?.level ?? 0, call)),
    );
    for (const queue of queues) this.met.add(queue);
    for (const line of [this.control, this.#consumer, this.#producer]) line.keep();
  }

  /** Ends within the time. Leases end with their connection. */
  async close(graceMs: number): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const deadline = performance.now() + graceMs;
    // Half of the time for what was delivered and not claimed, which goes back unharmed.
    await this.lanes.pauseAll(performance.now() + graceMs / 2);
    this.held.stop();
    await Promise.allSettled(
      [this.#consumer, this.#producer, this.control].map((line) => line.close(deadline)),
    );
    this.lanes.closeAll();
  }

  #line(purpose: string, up: (wire: Wire) => Promise<void>): Line {
    const { urls } = this.#options;
    let tries = 0;
    // The node that served last is asked first; each failure leads to the next.
    const address = (): string => urls[tries % urls.length] ?? '';
    return new Line(() => openWire(address(), this.#options, purpose), {
      up: async (wire) => {
        await up(wire);
        this.#events.heard(purpose, null);
      },
      down: (error) => {
        tries += 1;
        this.#events.heard(purpose, error);
      },
    });
  }

  async #pauseChanged(queue: string): Promise<void> {
    const lane = await this.lanes.opening(queue);
    if (lane === null || !lane.isWaiting) return;
    // Where it cannot be asked the safe side is taken: the next claim asks again.
    const paused = await this.pauses.ask(queue, startCall('claim', ASK)).catch(() => true);
    if (paused) await lane.pause();
  }

  #laneEnded(queue: string, reason: unknown, missing: boolean): void {
    if (this.#closed) return;
    if (missing) this.topology.forget(queue);
    const error = fromNative(reason, 'claim');
    this.#events.notify({ kind: 'degraded', reason: `The channel for queue "${queue}" was closed.`, error });
  }

  /** Nobody had claimed them, so no caller hears of it otherwise. */
  #doubled(queue: string, messages: readonly Message[]): void {
    const ids = messages.map((message) => {
      const decoded = decode(message);
      return 'broken' in decoded ? 'unreadable' : decoded.envelope.id;
    });
    const message = `The answer was lost when unclaimed jobs of queue "${queue}" were given back; each may be there twice: ${ids.join(', ')}`;
    this.#events.notify({ kind: 'warning', code: 'OUTCOME_UNKNOWN', message });
  }
}
