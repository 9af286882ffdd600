import { startBenchChild } from '../child/bench-child.ts';
import type { Contestant } from '../contestants/contestant.ts';
import type { RunFigures } from '../report.ts';
import { jobsLeft } from '../stores/stock.ts';
import { percentile } from './percentile.ts';
import type { Suite, SuiteRequest } from './suite.ts';
import { inTurns } from './turns.ts';

/** A few seconds; the last twentieth is some jobs. */
const JOBS = 100;
const WARM_UP_JOBS = 10;
const CONCURRENCY = 10;
/** A contestant that only polls finds a job within it. */
const LIMIT_MS = 10_000;

/** Jobs that fall due one after the other, for a worker that waits: from the due time to the start of the handler. */
export const dueTime: Suite = {
  name: 'dueTime',
  run: (request) =>
    inTurns(request, {
      suite: 'dueTime',
      concurrency: [CONCURRENCY],
      measure: ({ contestant }) => startWhenDue(request, contestant),
    }),
};

async function startWhenDue(
  { backend, store, stock, options }: SuiteRequest,
  contestant: Contestant,
): Promise<RunFigures> {
  await using place = await stock.take(contestant, 0);
  await using warmUpPlace = await stock.take(contestant, 0);
  await using child = await startBenchChild({ backend, contestant: contestant.name });
  const how = { concurrency: CONCURRENCY, limitMs: LIMIT_MS };
  await child.dueTime({ location: warmUpPlace.location, jobs: WARM_UP_JOBS, ...how });
  const { location } = place;
  await store.settle(location);
  const jobs = Math.min(JOBS, options.jobs);
  const { waits, starts } = await child.dueTime({ location, jobs, ...how });
  const left = await jobsLeft(contestant, location);
  const values = waits.length === 0 ? {} : { dueP50: percentile(waits, 50), dueP95: percentile(waits, 95) };
  return { jobs: waits.length, cut: false, left, failure: failureOf(jobs, starts, waits, left), values };
}

function failureOf(jobs: number, starts: number, waits: readonly number[], left: number): string | null {
  if (waits.length < jobs)
    return `${jobs - waits.length} of ${jobs} jobs did not start within ${LIMIT_MS} ms after the last was due`;
  if (starts > jobs) return `${starts - jobs} jobs were handled more than once`;
  // Some count a delay from a clock of whole milliseconds.
  const early = waits.filter((wait) => wait < -1).length;
  if (early > 0) return `${early} jobs started before they were due`;
  return left === 0 ? null : `all jobs were handled, but ${left} are still stored`;
}
