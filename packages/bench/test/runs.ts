import type { Values } from '../src/metrics.ts';
import type { Run } from '../src/report.ts';

/** A run that counts, with what a test changes in it. */
export function run(changes: Partial<Run>): Run {
  return {
    suite: 'drain',
    round: 1,
    contestant: 'surety',
    concurrency: 10,
    jobs: 1000,
    cut: false,
    left: 0,
    failure: null,
    values: { throughput: 10_000 },
    ...changes,
  };
}

/** One run for each of `values`, in rounds. */
export function rounds(
  contestant: string,
  values: readonly Values[],
  changes: Partial<Run> = {},
): readonly Run[] {
  return values.map((each, index) => run({ contestant, values: each, round: index + 1, ...changes }));
}

/** The same with nothing but a throughput. */
export function rates(contestant: string, throughputs: readonly number[], concurrency = 10): readonly Run[] {
  return rounds(
    contestant,
    throughputs.map((throughput) => ({ throughput })),
    { concurrency },
  );
}
