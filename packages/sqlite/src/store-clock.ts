/**
 * The clock of the store: the machine's, made safe against being set back. All processes of the host share it through
 * two numbers in the file, read at the start of each transaction and written at the end of each one that writes.
 *
 * - `high`: the latest instant that any transaction has used. The clock never shows less.
 * - `shift`: how far it is ahead of the machine's clock; 0 but for a time after that was set back.
 *
 * Simply showing `high` until the machine has caught up would freeze every lease and delay for as long as the step was:
 * an hour, or years where the clock had been wrong. So on a step back the difference goes into `shift`, and
 * time goes on at once from where it was: leases and delays, which are durations, keep their length. The shift is paid back by running
 * ten per cent slow, so that a lease lasts a little longer than asked, never shorter, and instants that are shown come
 * back to the truth: a step of an hour is forgotten after ten. After an absurd step (a clock that was years ahead)
 * the instants shown stay off until the machine's clock gets there; no duration does.
 *
 * A step forward cannot be told from a time when nobody looked. It ends the leases that it passes over: their jobs
 * run again, one attempt charged, and the fence holds.
 */
export interface ClockMark {
  readonly high: number;
  readonly shift: number;
}

/** Where the clock stands now. */
export interface Reading extends ClockMark {
  /** Whole milliseconds since 1970. */
  readonly now: number;
  /** By how much the machine's clock was found set back; 0 as a rule. */
  readonly steppedBackMs: number;
}

/** Two processes that read the clock at the same moment may see it this far apart: no step, the clock stands for so long. */
const TOLERATED_MS = 100;
/** The part of the time that passes by which a shift is paid back. */
const PAYBACK = 0.1;

/** Reads the store's clock from its mark and the machine's clock. Applying it often or seldom gives the same time. */
export function readClock(mark: ClockMark, machineMs: number): Reading {
  const passed = machineMs + mark.shift - mark.high;
  if (passed >= 0) {
    const paid = Math.min(mark.shift, passed * PAYBACK);
    const high = mark.high + passed - paid;
    return { now: Math.floor(high), high, shift: mark.shift - paid, steppedBackMs: 0 };
  }
  const still = { now: Math.floor(mark.high), high: mark.high };
  if (passed >= -TOLERATED_MS) return { ...still, shift: mark.shift, steppedBackMs: 0 };
  return { ...still, shift: mark.shift - passed, steppedBackMs: -passed };
}
