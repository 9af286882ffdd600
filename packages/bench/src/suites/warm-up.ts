import type { BenchChild } from '../child/bench-child.ts';
import type { Contestant } from '../contestants/contestant.ts';
import type { SuiteRequest } from './suite.ts';

/** What handles fewer jobs in that time is warm by then too. */
const LIMIT_MS = 4000;

/**
 * Jobs worked off by the same process before, from another place: most of the code is compiled then, and no run pays for that. The rest takes many more. Of runs of
 * 20,000 one after the other in a process that had worked off 5,000 each was faster than the one before until the third or fourth (100 at a time, thousands a second:
 * Redis 58, 62, 70, 77, 82; bee-queue 15, 16, 21, 19, 21; BullMQ 8.2, 9.4, 8.5, 9.4, 10.2; RabbitMQ 21, 31, 37, 34, 37; its plain client 24, 26, 31, 31, 28).
 */
export async function warmUp(
  { stock, options }: SuiteRequest,
  child: BenchChild,
  contestant: Contestant,
  concurrency: number,
): Promise<void> {
  const jobs = options.warmUp;
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
