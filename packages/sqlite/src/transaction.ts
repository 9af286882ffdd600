import { cellsOf } from './row-cells.ts';
import type { Statements } from './statement-set.ts';
import { type ClockMark, type Reading, readClock } from './store-clock.ts';

/** A transaction that reads: one view of the file, one reading of the clock. */
export interface ReadTransaction {
  readonly st: Statements;
  /** The store's clock at the start; the same all through. */
  readonly now: number;
}

/** A transaction that writes. No other writer exists while it runs, and it never spans an await. */
export interface WriteTransaction extends ReadTransaction {
  /** `performance.now()` before the transaction began. */
  readonly startedAt: number;
  /** Names of queues that have got something to claim, for those who wait. */
  readonly woken: Set<string>;
  /** A number that no job has had. */
  nextSeq(): number;
  /** Notes what moved between the lists of a queue; written by `finish`. */
  moved(queue: number, ready: number, scheduled: number, dead: number): void;
  /** Writes counters, numbers and clock. The last step before the commit. */
  finish(): void;
  /** See {@link Reading}. */
  readonly steppedBackMs: number;
}

/** The machine's clock, as tests can replace it. `null`: as SQLite reads it. */
export type MachineClock = (() => number) | null;

interface StoreRow extends ClockMark {
  readonly next: number;
}

interface Moves {
  ready: number;
  scheduled: number;
  dead: number;
}

/** The reading part of a transaction that has begun. */
export function readWork(st: Statements, clock: MachineClock): ReadTransaction {
  return { st, now: readStore(st, clock).reading.now };
}

/** The writing part of a transaction that has begun "immediate", or of the application's own. */
export function writeWork(st: Statements, clock: MachineClock, startedAt: number): WriteTransaction {
  const { row, reading } = readStore(st, clock);
  const moves = new Map<number, Moves>();
  let next = row.next;
  return {
    st,
    now: reading.now,
    steppedBackMs: reading.steppedBackMs,
    startedAt,
    woken: new Set(),
    nextSeq: () => next++,
    moved(queue, ready, scheduled, dead) {
      const sum = moves.get(queue);
      if (sum === undefined) {
        moves.set(queue, { ready, scheduled, dead });
        return;
      }
      sum.ready += ready;
      sum.scheduled += scheduled;
      sum.dead += dead;
    },
    finish() {
      for (const [queue, sum] of moves) st.countMoves.run(sum.ready, sum.scheduled, sum.dead, queue);
      if (next !== row.next || mustStore(row, reading)) st.writeStore.run(next, reading.high, reading.shift);
    },
  };
}

/**
 * How far the stored mark of the clock may lag behind, to spare most transactions the write of a page. It is less than
 * what the clock tolerates as a step back, so what it hides would change nothing.
 */
const MARK_LAG_MS = 50;

function mustStore(mark: ClockMark, reading: Reading): boolean {
  return reading.shift > 0 || mark.shift > 0 || reading.high - mark.high >= MARK_LAG_MS;
}

function readStore(
  st: Statements,
  clock: MachineClock,
): { readonly row: StoreRow; readonly reading: Reading } {
  const [next, high, shift, machine] = cellsOf<[number, number, number, number]>(st.readStore.get());
  const row = { next, high, shift };
  return { row, reading: readClock(row, clock === null ? machine : clock()) };
}
