import { type Metric, metricsOf, type Values } from './metrics.ts';
import type { Run } from './report.ts';

/** The runs of one contestant at one concurrency. */
export interface Summary {
  readonly suite: string;
  readonly contestant: string;
  readonly concurrency: number;
  readonly failed: boolean;
  /** Medians over the rounds. None where a run failed, since what is left would be a choice of rounds. */
  readonly values: Values;
}

/** The middle one, or the mean of the two in the middle. Throws on an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new Error('there is no median of nothing');
  return (lower + upper) / 2;
}

/** In the order in which the cells first appear. */
export function summaries(runs: readonly Run[]): readonly Summary[] {
  const cells = Map.groupBy(runs, ({ suite, contestant, concurrency }) =>
    JSON.stringify([suite, concurrency, contestant]),
  );
  return [...cells.values()].map((cell) => {
    const { suite, contestant, concurrency } = cell[0] as Run;
    const failed = cell.some(({ failure }) => failure !== null);
    return { suite, contestant, concurrency, failed, values: failed ? {} : mediansOf(cell) };
  });
}

/** Of the metrics that every run has. */
function mediansOf(cell: readonly Run[]): Values {
  const found: Partial<Record<Metric, number>> = {};
  for (const metric of metricsOf(cell[0]?.values ?? {})) {
    const known = cell.map(({ values }) => values[metric]).filter((value) => value !== undefined);
    if (known.length === cell.length) found[metric] = median(known);
  }
  return found;
}
