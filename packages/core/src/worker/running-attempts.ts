import type { Attempt } from './attempt.ts';
import type { Lane } from './lane.ts';
import { TimeoutLists } from './timeout-lists.ts';

/** What becomes of attempts as time passes. */
export interface RunningEvents {
  /** Its grace is over and its handler has not returned. */
  readonly graceOver: (attempt: Attempt, lane: Lane) => void;
  /** A zombie has had its slot for too long; it was taken back. */
  readonly givenUp: (attempt: Attempt, lane: Lane) => void;
}

/**
 * The slots of a worker. An attempt enters when its handler is called and leaves when the handler has really returned. One whose
 * job was settled or lost before that is a zombie: it keeps its slot, so that never more handlers live than there are slots, until it
 * returns or `zombieMs` have passed.
 */
export class RunningAttempts {
  readonly #graceMs: number;
  readonly #zombieMs: number;
  readonly #events: RunningEvents;
  readonly #timeouts = new TimeoutLists();
  /**
   * In no order; `place` of each says where it stands, and its lane stands at the same place. Not a map: a table that a map has outgrown keeps what it held
   * last, and the next table, until everything is collected. With every job in it once a third of the young garbage survived, and a worker took twice the memory.
   */
  readonly #running: Attempt[] = [];
  readonly #lanes: Lane[] = [];
  readonly #inGrace = new Set<Attempt>();
  readonly #zombies = new Map<Attempt, { readonly lane: Lane; readonly since: number }>();

  constructor(graceMs: number, zombieMs: number, events: RunningEvents) {
    this.#graceMs = graceMs;
    this.#zombieMs = zombieMs;
    this.#events = events;
  }

  /** Slots taken, zombies included. */
  get slots(): number {
    return this.#running.length + this.#zombies.size;
  }
  /** Attempts whose end is still open. */
  get active(): number {
    return this.#running.length;
  }
  entries(): [Attempt, Lane][] {
    return this.#running.map((attempt, place) => [attempt, this.#lanes[place] as Lane]);
  }

  enter(attempt: Attempt, lane: Lane, timeoutMs: number, now: number): void {
    attempt.place = this.#running.push(attempt) - 1;
    this.#lanes.push(lane);
    lane.running += 1;
    this.#timeouts.add(attempt, timeoutMs, now);
  }

  /** The handler has returned and its slot is free. */
  leave(attempt: Attempt): void {
    const lane = this.#laneOf(attempt);
    if (lane === undefined) return;
    lane.running -= 1;
    this.#takeOut(attempt);
    this.#inGrace.delete(attempt);
    this.#timeouts.remove(attempt, attempt.handler?.definition.timeoutMs ?? 0);
  }

  /** Settled or lost while its handler goes on. */
  becomeZombie(attempt: Attempt, now: number): void {
    const lane = this.#laneOf(attempt);
    if (lane === undefined) return;
    this.leave(attempt);
    attempt.isZombie = true;
    this.#zombies.set(attempt, { lane, since: now });
  }

  /** The handler of a zombie has returned; false when its slot had been taken back before. */
  zombieReturned(attempt: Attempt): boolean {
    return this.#zombies.delete(attempt);
  }

  tick(now: number): void {
    for (const timed of this.#timeouts.takeDue(now)) this.#timedOut(timed as Attempt, now);
    for (const attempt of this.#inGrace) {
      const lane = this.#laneOf(attempt);
      if (lane !== undefined && now >= attempt.graceUntil) this.#events.graceOver(attempt, lane);
    }
    for (const [attempt, { lane, since }] of this.#zombies) {
      if (now - since < this.#zombieMs) continue;
      this.#zombies.delete(attempt);
      this.#events.givenUp(attempt, lane);
    }
  }

  #laneOf(attempt: Attempt): Lane | undefined {
    return this.#running[attempt.place] === attempt ? this.#lanes[attempt.place] : undefined;
  }

  /** The last one takes its place. */
  #takeOut(attempt: Attempt): void {
    const { place } = attempt;
    const last = this.#running.pop() as Attempt;
    const lane = this.#lanes.pop() as Lane;
    if (last !== attempt) {
      this.#running[place] = last;
      this.#lanes[place] = lane;
      last.place = place;
    }
    attempt.place = -1;
  }

  #timedOut(attempt: Attempt, now: number): void {
    attempt.graceUntil = now + this.#graceMs;
    this.#inGrace.add(attempt);
    attempt.abort('timeout', `the handler ran longer than ${attempt.handler?.definition.timeoutMs} ms`);
  }
}
