import { PRIORITY_LEVELS } from './capabilities.ts';

/** Per level of priority the place of the last ticket that was taken. */
export type Reached = Readonly<Record<string, number>>;

/**
 * Where a claim begins to look. A claim walks the index entries of tickets that are gone and not yet vacuumed; under an
 * old open transaction these grow without bound. While a process claims much, it starts behind what it has claimed itself,
 * on each level of priority apart, so that a job of a better level is never overlooked. What lies below the floor (a job
 * that was handed back to its place, or committed late) is found by the next probe from the bottom.
 */
export interface Floor {
  /** Floors for the next claim, one sequence number a level, and whether it probes from the bottom. */
  next(now: number): { readonly floors: readonly number[]; readonly probe: boolean };
  /** Learns from an answer with so many jobs. */
  learn(answer: {
    readonly probe: boolean;
    readonly full: boolean;
    readonly now: number;
    readonly tookMs: number;
    readonly count: number;
    readonly reached: Reached;
  }): void;
  /** Something was handed back below the floor: the next claim probes. */
  reset(): void;
}

/** Below so many tickets in a row the entries passed again cost less than a floor could hide. */
const WORTH_IT = 2000;
/** A probe at least every 200 ms, at most a fifteenth of the time, and every 2 s whatever it costs. */
const PROBE_EVERY_MS = 200;
const PROBE_SHARE = 15;
const PROBE_CAP_MS = 2000;

export function createFloor(): Floor {
  const bottom: readonly number[] = Object.freeze(Array.from({ length: PRIORITY_LEVELS }, () => 0));
  let floors = [...bottom];
  let passed = 0;
  let probedAt = Number.NEGATIVE_INFINITY;
  let probeMs = 0;
  return {
    next(now) {
      const rest = Math.min(Math.max(PROBE_EVERY_MS, PROBE_SHARE * probeMs), PROBE_CAP_MS);
      if (passed < WORTH_IT || now - probedAt >= rest) {
        // One probe at a time: rivals of this process go on from the floor meanwhile.
        if (passed >= WORTH_IT) probedAt = now;
        return { floors: bottom, probe: true };
      }
      return { floors, probe: false };
    },
    learn({ probe, full, now, tookMs, count, reached }) {
      if (!full) {
        passed = 0;
        floors = [...bottom];
        return;
      }
      passed += count;
      for (const [name, place] of Object.entries(reached)) {
        const level = Number(name);
        // A probe that filled up below the old floor shows that there is more down there: go on from where it ended.
        floors[level] = probe ? place : Math.max(place, floors[level] ?? 0);
      }
      if (!probe) return;
      probedAt = now;
      probeMs = tookMs;
    },
    reset() {
      probedAt = Number.NEGATIVE_INFINITY;
    },
  };
}
