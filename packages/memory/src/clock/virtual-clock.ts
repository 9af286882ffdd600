import { IndexedHeap } from '../collections/indexed-heap.ts';
import type { Clock, ClockTimer } from './clock.ts';

/** A clock that stands still until it is told to move. */
export interface VirtualClock extends Clock {
  /**
   * Moves the time forward by `ms`. Timers on the way fire in order, each at its own instant, and everything they wake
   * runs before the next one. Calls made at the same time follow one another. Not to be awaited inside a timer.
   */
  advance(ms: number): Promise<void>;
}

interface VirtualTimer extends ClockTimer {
  readonly serial: number;
  readonly run: () => void;
  heapIndex: number;
}

/** Taken once, so that a test runner's fake timers cannot stop it. */
const nextTurn = setImmediate;

/** Lets promises, and what they start, run. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    nextTurn(resolve);
  });
}

/** Makes a virtual clock that begins at `startAt` (ms since the epoch; the first instant of 2030 when left out). */
export function createVirtualClock(startAt: number = Date.UTC(2030, 0, 1)): VirtualClock {
  const timers = new IndexedHeap<VirtualTimer>((a, b) => a.at - b.at || a.serial - b.serial);
  let now = startAt;
  let serial = 0;
  let moving: Promise<void> = Promise.resolve();

  async function move(ms: number): Promise<void> {
    const target = now + ms;
    await turn();
    for (let next = timers.peek(); next !== undefined && next.at <= target; next = timers.peek()) {
      timers.remove(next);
      now = Math.max(now, next.at);
      next.run();
      await turn();
    }
    now = target;
    await turn();
  }

  return Object.freeze({
    now: () => now,
    setTimer(run: () => void, afterMs: number): ClockTimer {
      serial += 1;
      const timer: VirtualTimer = { at: now + Math.max(0, afterMs), serial, run, heapIndex: -1 };
      timers.push(timer);
      return timer;
    },
    clearTimer(timer: ClockTimer): void {
      timers.remove(timer as VirtualTimer);
    },
    async advance(ms: number): Promise<void> {
      if (!Number.isFinite(ms) || ms < 0) throw new RangeError(`A clock cannot advance by ${ms} ms.`);
      const moved = moving.then(() => move(ms));
      moving = moved.catch(() => undefined);
      await moved;
    },
  });
}
