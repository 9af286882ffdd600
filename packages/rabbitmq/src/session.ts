import type { Notice } from '@surety/core/contract';
import { type Call, failure, LATE, startCall, within } from './call.ts';
import { HeldLeases } from './claims/held.ts';
import { Lanes } from './claims/lanes.ts';
import { noteOfDelays, Pauses } from './claims/pauses.ts';
import { BrokerClock } from './delays/broker-clock.ts';
import { Pumps } from './delays/pumps.ts';
import { HOLDS_LEASES } from './health.ts';
import { levelFor } from './ladder.ts';
import { Moves } from './moves.ts';
import { type Names, namesOf } from './names.ts';
import { fromNative } from './native-errors.ts';
import type { ResolvedOptions } from './options.ts';
import { Topology } from './topology.ts';
import { Line } from './wire/line.ts';
import { newNonce } from './wire/new-nonce.ts';
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
  readonly pumps: Pumps;
  readonly clock: BrokerClock;
  /** Queues, dead letters, pauses and counts: no job is held over it, so it may be cut. */
  readonly control: Line;
  /** Queues that this session has met. */
  readonly #met = new Set<string>();
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
    this.#consumer = this.#line(HOLDS_LEASES, (wire) => this.pauses.listen(wire));
    this.topology = new Topology(this.control, this.names, options.declare, (queue) =>
      this.#ladderGrown(queue),
    );
    this.publisher = new Publisher(this.#producer, () => this.topology.forgetAll());
    this.clock = new BrokerClock(this.#producer);
    this.pauses = new Pauses(this.names, this.control, options.declare, {
      paused: (queue) => void this.#pauseChanged(queue),
      delays: (queue) => this.pumps.look(queue),
    });
    this.moves = new Moves(this.names, this.topology, this.publisher, this.clock, (queue) =>
      this.meet(queue),
    );
    this.lanes = new Lanes({
      names: this.names,
      moves: this.moves,
      publisher: this.publisher,
      line: this.#consumer,
      ended: (queue, reason, missing) => this.#laneEnded(queue, reason, missing),
      doubled: (queue, ids) => this.#doubled(queue, ids),
    });
    this.pumps = new Pumps({
      names: this.names,
      clock: this.clock,
      publisher: this.publisher,
      topology: this.topology,
      control: this.control,
      line: this.#consumer,
      doubled: (queue, ids) => this.#doubled(queue, ids),
      stray: (queue) => this.topology.forget(queue),
    });
    this.held = new HeldLeases((held) => this.lanes.expire(held));
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Queues that this session has met. */
  get met(): Iterable<string> {
    return this.#met;
  }

  /** From here on the delayed jobs of the queue are looked after, here or elsewhere. */
  meet(queue: string): void {
    if (this.#met.has(queue)) return;
    this.#met.add(queue);
    this.pumps.meet(queue);
  }

  async open(call: Call): Promise<void> {
    const wire = await this.control.first(call);
    if (isTooOld(wire)) {
      const what = `RabbitMQ is of version ${wire.version}; 3.10 or later is needed.`;
      throw failure('STORE_UNSUITABLE', what, 'open', { remedy: 'Update the broker.' });
    }
    await this.topology.control(call);
    const { queues } = this.#options;
    await Promise.all(queues.map((queue) => this.topology.ladder(queue, levelFor(HOUR_MS) ?? 0, call)));
    this.clock.start();
    for (const queue of queues) this.meet(queue);
    for (const line of [this.control, this.#consumer, this.#producer]) line.keep();
  }

  /** Ends within the time. Leases end with their connection. */
  async close(graceMs: number): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const deadline = performance.now() + graceMs;
    // Half of the time for what was delivered and not claimed, which goes back unharmed.
    await Promise.all([
      this.lanes.pauseAll(performance.now() + graceMs / 2),
      this.#handOver(performance.now() + graceMs / 2),
    ]);
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
        // The other lines may still be on their way; whoever looks waits for them.
        this.pumps.look(null);
        this.#events.heard(purpose, null);
      },
      down: (error) => {
        tries += 1;
        this.#events.heard(purpose, error);
      },
    });
  }

  /** Somebody else moves the delayed jobs from here on. */
  async #handOver(deadline: number): Promise<void> {
    this.clock.stop();
    const queues = await within(this.pumps.stop(), deadline);
    if (queues === LATE) return;
    const call: Call = { operation: 'close', deadline };
    await Promise.all(queues.map((queue) => this.#tellOfDelays(queue, call)));
  }

  #ladderGrown(queue: string): void {
    this.pumps.look(queue);
    void this.#tellOfDelays(queue, startCall('enqueue', ASK));
  }

  #tellOfDelays(queue: string, call: Call): Promise<unknown> {
    return this.publisher.tell(this.names.control, noteOfDelays(queue), newNonce(), call);
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
  #doubled(queue: string, ids: readonly string[]): void {
    if (this.#closed || ids.length === 0) return;
    const message = `An answer was lost when delayed or unclaimed jobs of queue "${queue}" were moved; each may be there twice: ${ids.join(', ')}`;
    this.#events.notify({ kind: 'warning', code: 'OUTCOME_UNKNOWN', message });
  }
}
