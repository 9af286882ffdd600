import type { Stage } from './stage.ts';

/** One drill. What it needs of a place decides where it can be run. */
export interface Drill {
  /** As it is asked for: `kill-worker`. Its folder has a number before it. */
  readonly name: string;
  /** What must hold, in one line. */
  readonly summary: string;
  /** `server`: it stops or kills the server. `network`: it breaks the road to it. */
  readonly needs: readonly ('server' | 'network')[];
  /** It is broken off after this time, and then it has not held. Generous: for two busy cores. */
  readonly limitMs: number;
  /** Notes figures and what must hold on the stage. What it throws is something that did not hold. */
  run(stage: Stage): Promise<void>;
}

/** A measured or counted value of a report; durations end in `Ms`. */
export type Figure =
  | number
  | string
  | boolean
  | null
  | readonly Figure[]
  | { readonly [name: string]: Figure };

/** What a drill came to; the content of `reports/drills/<name>-<backend>.json`. */
export interface DrillReport {
  readonly drill: string;
  readonly backend: string;
  readonly seed: number;
  readonly verdict: 'held' | 'broken';
  readonly figures: Readonly<Record<string, Figure>>;
}
