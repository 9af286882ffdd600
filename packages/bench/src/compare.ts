import { OURS, OURS_LOGGED } from './contestants/names.ts';
import type { Summary } from './medians.ts';
import { type Metric, metricsOf, ratioOf } from './metrics.ts';

/** Surety over a peer; above 1 is better, for times and sizes too. */
export interface Ratio {
  readonly suite: string;
  readonly peer: string;
  readonly concurrency: number;
  readonly metric: Metric;
  readonly ratio: number;
}

/** What something costs Surety itself: its rate without over its rate with. */
export interface Cost {
  readonly of: string;
  readonly concurrency: number;
  readonly cost: number;
  /** The most that it may cost. */
  readonly limit: number;
}

/** Of the medians. Cells with a failed run have none. */
export function ratios(cells: readonly Summary[]): readonly Ratio[] {
  return cells.flatMap(({ suite, contestant: peer, concurrency, values }) => {
    if (peer === OURS || peer === OURS_LOGGED) return [];
    const ours = find(cells, OURS, suite, concurrency);
    return metricsOf(values).flatMap((metric) => {
      const [ourValue, peerValue] = [ours?.values[metric], values[metric]];
      if (ourValue === undefined || peerValue === undefined) return [];
      return [{ suite, peer, concurrency, metric, ratio: ratioOf(metric, ourValue, peerValue) }];
    });
  });
}

export function costs(cells: readonly Summary[]): readonly Cost[] {
  return cells.flatMap(({ suite, contestant, concurrency, values }) => {
    const asked = COSTS.find((one) => one.suite === suite && one.contestant === contestant);
    if (asked === undefined) return [];
    const { against, metric, of, limit } = asked;
    const without = find(cells, OURS, against.suite, concurrency)?.values[against.metric];
    const figure = values[metric];
    return without === undefined || figure === undefined
      ? []
      : [{ of, concurrency, cost: without / figure, limit }];
  });
}

interface AskedCost {
  readonly of: string;
  readonly contestant: string;
  readonly suite: string;
  readonly metric: Metric;
  readonly against: { readonly suite: string; readonly metric: Metric };
  readonly limit: number;
}

const DRAIN = { suite: 'drain', metric: 'throughput' } as const;
const SMALL = { suite: 'backlog10k', metric: 'backlog10k' } as const;
const COSTS: readonly AskedCost[] = [
  { of: 'a line of log per attempt', contestant: OURS_LOGGED, ...DRAIN, against: DRAIN, limit: 2 },
  {
    of: 'a second worker process beside the first',
    contestant: OURS,
    suite: 'twoProcesses',
    metric: 'twoProcesses',
    against: SMALL,
    limit: 1,
  },
  {
    of: '1M ready jobs behind those worked off',
    contestant: OURS,
    suite: 'backlog1M',
    metric: 'backlog1M',
    against: SMALL,
    limit: 1.3,
  },
  {
    of: '1M scheduled jobs beside those worked off',
    contestant: OURS,
    suite: 'backlog1MFuture',
    metric: 'backlog1MFuture',
    against: SMALL,
    limit: 1.3,
  },
];

function find(
  cells: readonly Summary[],
  contestant: string,
  suite: string,
  concurrency: number,
): Summary | undefined {
  return cells.find(
    (cell) => cell.suite === suite && cell.concurrency === concurrency && cell.contestant === contestant,
  );
}
