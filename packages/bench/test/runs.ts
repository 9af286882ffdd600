import type { Run } from '../src/report.ts';

/** A run that counts, with what a test changes in it. */
export function run(changes: Partial<Run>): Run {
  return {
    suite: 'drain',
    round: 1,
    contestant: 'surety',
    concurrency: 10,
    jobs: 1000,
    elapsedMs: 100,
    handledMs: 90,
    throughput: 10_000,
    workerCpuUsPerJob: 20,
    serverCpuUsPerJob: 10,
    left: 0,
    failure: null,
    ...changes,
  };
}

/** One run for each throughput, in rounds. */
export function rounds(contestant: string, throughputs: readonly number[], concurrency = 10): readonly Run[] {
  return throughputs.map((throughput, index) =>
    run({ contestant, throughput, concurrency, round: index + 1 }),
  );
}
