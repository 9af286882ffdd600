import { startBenchChild } from '../child/bench-child.ts';
import type { Contestant } from '../contestants/contestant.ts';
import type { RunFigures } from '../report.ts';
import { jobsLeft } from '../stores/stock.ts';
import { percentile } from './percentile.ts';
import type { Suite, SuiteRequest } from './suite.ts';
import { inTurns } from './turns.ts';

/** Enough that the last percent is more than one job over the rounds; a few seconds. */
const JOBS = 150;
/** Not waited for by code; there only so that other code is compiled. */
const WARM_UP_JOBS = 20;
const CONCURRENCY = 10;
/** A contestant that only polls finds a job within it. */
const LIMIT_MS = 10_000;

/** One job at a time for a worker that waits: from the call of enqueue to the start of the handler. */
export const pickUp: Suite = {
  name: 'pickUp',
  run: (request) =>
    inTurns(request, {
      suite: 'pickUp',
      concurrency: [CONCURRENCY],
      measure: ({ contestant }) => pickUpOnce(request, contestant),
    }),
};

async function pickUpOnce(
  { backend, store, stock, options }: SuiteRequest,
  contestant: Contestant,
): Promise<RunFigures> {
  await using place = await stock.take(contestant, 0);
  await using warmUpPlace = await stock.take(contestant, 0);
  await using child = await startBenchChild({ backend, contestant: contestant.name });
  const how = { concurrency: CONCURRENCY, limitMs: LIMIT_MS };
  await child.pickUp({ location: warmUpPlace.location, jobs: WARM_UP_JOBS, ...how });
  const { location } = place;
  await store.settle(location);
  const jobs = Math.min(JOBS, options.jobs);
  const { waits, starts } = await child.pickUp({ location, jobs, ...how });
  const left = await jobsLeft(contestant, location);
  return {
    jobs: waits.length,
    cut: false,
    left,
    failure: failureOf({ jobs, starts, waits, left }),
    values: waits.length === 0 ? {} : { pickupP50: percentile(waits, 50), pickupP99: percentile(waits, 99) },
  };
}

interface Seen {
  readonly jobs: number;
  readonly starts: number;
  readonly waits: readonly number[];
  readonly left: number;
}

function failureOf({ jobs, starts, waits, left }: Seen): string | null {
  if (waits.length < jobs)
    return `job ${waits.length + 1} of ${jobs} was not picked up within ${LIMIT_MS} ms`;
  if (starts > jobs) return `${starts - jobs} jobs were handled more than once`;
  return left === 0 ? null : `all jobs were handled, but ${left} are still stored`;
}
