import { startBenchChild } from '../child/bench-child.ts';
import type { Contestant } from '../contestants/contestant.ts';
import type { Metric } from '../metrics.ts';
import type { RunFigures } from '../report.ts';
import { jobsLeft } from '../stores/stock.ts';
import type { Suite, SuiteRequest } from './suite.ts';
import { inTurns } from './turns.ts';

interface Way {
  readonly metric: Metric;
  readonly batch: number;
  readonly inFlight: number;
}

/** Long beside what a busy moment of the machine takes; the slowest contestants do a thousand jobs in it. */
const MEASURE_MS = 1500;
const WARM_UP_MS = 300;
/** So many times the jobs of a usual run at most: the fastest end before the time does. */
const TIMES = 3;

/** One process enqueues, nobody works. */
export const enqueue: readonly Suite[] = [
  way({ metric: 'enqueueSingle', batch: 1, inFlight: 1 }),
  way({ metric: 'enqueueSingle32', batch: 1, inFlight: 32 }),
  way({ metric: 'enqueueBulk1000', batch: 1000, inFlight: 1 }),
];

function way(how: Way): Suite {
  return {
    name: 'enqueue',
    run: (request) =>
      inTurns(request, {
        suite: 'enqueue',
        title: how.metric,
        concurrency: [how.inFlight],
        measure: ({ contestant }) => enqueueOnce(request, contestant, how),
      }),
  };
}

async function enqueueOnce(
  { backend, store, stock, options }: SuiteRequest,
  contestant: Contestant,
  { metric, batch, inFlight }: Way,
): Promise<RunFigures> {
  await using place = await stock.take(contestant, 0);
  await using warmUpPlace = await stock.take(contestant, 0);
  await using child = await startBenchChild({ backend, contestant: contestant.name });
  const how = { jobs: options.jobs * TIMES, batch, inFlight };
  await child.produce({ location: warmUpPlace.location, ...how, limitMs: WARM_UP_MS });
  const { location } = place;
  await store.settle(location);
  const { elapsedMs, produced } = await child.produce({ location, ...how, limitMs: MEASURE_MS });
  const left = await jobsLeft(contestant, location);
  return {
    jobs: produced,
    cut: false,
    left,
    failure: left === produced ? null : `${produced} jobs were accepted, but ${left} are stored`,
    values: { [metric]: (produced / elapsedMs) * 1000 },
  };
}
