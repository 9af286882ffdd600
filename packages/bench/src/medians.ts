import { OURS } from './contestants/registry.ts';
import type { Ratio, Run } from './report.ts';

/** The runs of one contestant at one concurrency. */
export interface Summary {
  readonly suite: string;
  readonly contestant: string;
  readonly concurrency: number;
  /** Medians over the rounds; null where a run failed, since what is left would be a choice of rounds. */
  readonly throughput: number | null;
  readonly workerCpuUsPerJob: number | null;
  readonly serverCpuUsPerJob: number | null;
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
    const middle = (values: readonly (number | null)[]): number | null => {
      const known = values.filter((value) => value !== null);
      return failed || known.length < values.length ? null : median(known);
    };
    return {
      suite,
      contestant,
      concurrency,
      throughput: middle(cell.map(({ throughput }) => throughput)),
      workerCpuUsPerJob: middle(cell.map((run) => run.workerCpuUsPerJob)),
      serverCpuUsPerJob: middle(cell.map((run) => run.serverCpuUsPerJob)),
    };
  });
}

/** Ours over each peer, of the medians; above 1 is better. Cells with a failed run have none. */
export function ratios(cells: readonly Summary[]): readonly Ratio[] {
  return cells.flatMap(({ suite, contestant: peer, concurrency, throughput }) => {
    if (peer === OURS || throughput === null) return [];
    const ours = cells.find(
      (cell) => cell.suite === suite && cell.concurrency === concurrency && cell.contestant === OURS,
    );
    if (ours === undefined || ours.throughput === null) return [];
    return [{ suite, peer, concurrency, metric: 'throughput' as const, ratio: ours.throughput / throughput }];
  });
}
