import type { BenchChild } from '../child/bench-child.ts';
import type { Contestant } from '../contestants/contestant.ts';
import type { SuiteRequest } from './suite.ts';

const WARM_UP_JOBS = 5000;
/** The slow ones are warm by then too. */
const LIMIT_MS = 1000;

/** Worked off by the same process before, from another place: code is compiled, and no run pays for that. */
export async function warmUp(
  { stock, options }: SuiteRequest,
  child: BenchChild,
  contestant: Contestant,
  concurrency: number,
): Promise<void> {
  const jobs = Math.min(WARM_UP_JOBS, options.jobs);
  await using place = await stock.take(contestant, jobs);
  await child.work({
    location: place.location,
    concurrency,
    numbers: jobs,
    target: jobs,
    untilEmpty: true,
    limitMs: LIMIT_MS,
  });
}
