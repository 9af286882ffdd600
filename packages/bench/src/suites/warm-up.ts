import type { BenchChild } from '../child/bench-child.ts';
import type { Contestant } from '../contestants/contestant.ts';
import type { SuiteRequest } from './suite.ts';

/**
 * So many times the jobs of a usual run. Runs of 20,000 after another in one process: the rate of every contestant grew until the third or fourth, with 5,000 jobs
 * before the first by a third to the double (Redis, 100 at a time: 58, 62, 70, 77, 82 thousand a second; bee-queue 15, 16, 21, 19, 21; BullMQ 8.2, 9.4, 8.5, 9.4, 10.2;
 * RabbitMQ: 21, 31, 37, 34, 37; its plain client 24, 26, 31, 31, 28).
 */
const TIMES = 3;
/** What handles fewer in that time is warm by then too. */
const LIMIT_MS = 4000;

/** Worked off by the same process before, from another place: code is compiled, and no run pays for that. */
export async function warmUp(
  { stock, options }: SuiteRequest,
  child: BenchChild,
  contestant: Contestant,
  concurrency: number,
): Promise<void> {
  const jobs = TIMES * options.jobs;
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
