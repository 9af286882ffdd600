import type { Backend, NewJob } from '@surety/core/contract';
import { STRONG, WEAK } from '../capabilities.ts';
import type { Clock, ClockTimer } from '../clock/clock.ts';
import { createRealClock } from '../clock/real-clock.ts';
import type { Connection } from '../connection.ts';
import type { FaultControls } from './fault-controls.ts';
import { StoreFaults } from './fault-controls.ts';
import { QueueState } from './queue-state.ts';

/** What the store gives. One store, one profile: that of its first backend. */
export type Profile = 'strong' | 'weak';

/** The data that several backends share, and the hooks of a test on it. */
export interface MemoryStore {
  readonly clock: Clock;
  readonly faults: FaultControls;
  /** Replaces the stored payload text of every copy of a job, as a foreign producer could. False: no such job. */
  corruptPayload(queue: string, id: string, text?: string): boolean;
  /** All copies of an id that are stored now, in any state: more than one only after a fault that is in the log. */
  copiesOf(queue: string, id: string): number;
}

/** Options of {@link createMemoryStore}. */
export interface MemoryStoreOptions {
  /** Real time when left out. */
  readonly clock?: Clock;
}

/** Makes an empty store. It lives as long as something refers to it, and in this process only. */
export function createMemoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return new Store(options.clock ?? createRealClock());
}

interface Alarm {
  readonly timer: ClockTimer;
  readonly at: number;
}

/** The store behind {@link MemoryStore}. */
export class Store implements MemoryStore {
  readonly clock: Clock;
  readonly faults: StoreFaults;
  readonly connections: Set<Connection> = new Set();
  /** `refused`: nobody listens. `frozen`: accepts nothing, answers nothing, drops nothing. */
  mode: 'up' | 'refused' | 'frozen' = 'up';
  profile: Profile | null = null;
  /** Hears of every job that was stored, for test kits. */
  onStored: ((job: NewJob) => void) | null = null;

  readonly #queues = new Map<string, QueueState>();
  readonly #alarms = new Map<QueueState, Alarm>();
  readonly #byBackend = new WeakMap<Backend, Connection>();
  #serial = 0;

  constructor(clock: Clock) {
    this.clock = clock;
    this.faults = new StoreFaults(this);
  }

  get weak(): boolean {
    return this.profile === 'weak';
  }

  /** Grows with every use: nonces of copies, fences and deaths. */
  next(): number {
    this.#serial += 1;
    return this.#serial;
  }

  register(backend: Backend, connection: Connection): void {
    this.#byBackend.set(backend, connection);
  }

  connectionOf(backend: Backend): Connection | undefined {
    return this.#byBackend.get(backend);
  }

  /** The queue as it is now: what is due is ready, what has ended is free. */
  queue(name: string): QueueState {
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      queue = new QueueState(name, this.weak ? 1 : STRONG.priority.levels);
      this.#queues.set(name, queue);
    }
    queue.promote(this.clock.now());
    return queue;
  }

  /** Every queue that was ever named, as it is now. */
  queues(): readonly QueueState[] {
    return [...this.#queues.keys()].map((name) => this.queue(name));
  }

  /** The instant `ms` from now, as coarse as the profile's clock and never early. */
  after(ms: number): number {
    const now = this.clock.now();
    if (ms <= 0) return now;
    if (!this.weak) return now + ms;
    const grain = WEAK.delay.granularityMs;
    return Math.ceil((now + ms) / grain) * grain;
  }

  /** To be called after every change of a queue: lets waiting claims look again, now and when something is due. */
  touched(queue: QueueState): void {
    if (queue.waiters.size === 0) return;
    if (queue.ready > 0 || queue.pause.paused) for (const waiter of queue.waiters) waiter.look();
    this.#arm(queue);
  }

  /** After a change of a connection or of the store's reach. */
  touchedAll(): void {
    for (const queue of this.queues()) {
      for (const waiter of queue.waiters) waiter.look();
      this.#arm(queue);
    }
  }

  corruptPayload(name: string, id: string, text: string = '{"not json'): boolean {
    const copies = this.queue(name).copies(id);
    for (const copy of copies) copy.payload = text;
    return copies.length > 0;
  }

  copiesOf(name: string, id: string): number {
    return this.queue(name).copies(id).length;
  }

  /** One timer a queue, and only while somebody waits, so that an idle store keeps no process alive. */
  #arm(queue: QueueState): void {
    const at = queue.waiters.size === 0 ? null : queue.nextMoveAt();
    const armed = this.#alarms.get(queue);
    if (armed !== undefined && armed.at === at) return;
    if (armed !== undefined) this.clock.clearTimer(armed.timer);
    this.#alarms.delete(queue);
    if (at === null) return;
    const timer = this.clock.setTimer(() => {
      this.#alarms.delete(queue);
      queue.promote(this.clock.now());
      this.touched(queue);
    }, at - this.clock.now());
    this.#alarms.set(queue, { timer, at });
  }

  /** A waiter has gone: without waiters there is no timer. */
  waiterLeft(queue: QueueState): void {
    if (queue.waiters.size === 0) this.#arm(queue);
  }
}
