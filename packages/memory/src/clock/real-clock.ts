import type { Clock, ClockTimer } from './clock.ts';

/** setTimeout takes a signed 32 bit number; what is longer fires at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

interface RealTimer extends ClockTimer {
  handle: ReturnType<typeof setTimeout> | null;
}

/** Real time that never steps back: the wall clock as it was at the start of the process, plus monotonic time since. */
export function createRealClock(): Clock {
  const now = (): number => performance.timeOrigin + performance.now();

  function arm(timer: RealTimer, run: () => void): void {
    // Rounded up, since setTimeout cuts fractions off.
    const left = Math.max(0, Math.ceil(timer.at - now()));
    timer.handle = setTimeout(
      () => {
        if (timer.at > now()) return arm(timer, run);
        timer.handle = null;
        run();
      },
      Math.min(left, LONGEST_TIMEOUT_MS),
    );
  }

  return Object.freeze({
    now,
    setTimer(run: () => void, afterMs: number): ClockTimer {
      const timer: RealTimer = { at: now() + afterMs, handle: null };
      arm(timer, run);
      return timer;
    },
    clearTimer(timer: ClockTimer): void {
      const real = timer as RealTimer;
      if (real.handle !== null) clearTimeout(real.handle);
      real.handle = null;
    },
  });
}
