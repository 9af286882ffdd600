import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchChild, startBenchChild } from '../child/bench-child.ts';
import type { WorkResult } from '../child/work.ts';
import type { Contestant } from '../contestants/contestant.ts';
import type { RunFigures } from '../report.ts';
import { jobsLeft } from '../stores/stock.ts';
import type { Suite, SuiteRequest } from './suite.ts';
import { inTurns, USUAL_CONCURRENCY } from './turns.ts';
import { warmUp } from './warm-up.ts';
import { workFigures } from './work-figures.ts';

/** Between two questions to both processes how far they are: little beside a run, much beside a question. */
const ASK_EVERY_MS = 5;

/** A drain by two worker processes at the same time. */
export const twoProcesses: Suite = {
  name: 'twoProcesses',
  run: (request) =>
    inTurns(request, {
      suite: 'twoProcesses',
      concurrency: [USUAL_CONCURRENCY],
      measure: ({ contestant, concurrency }) => drainByTwo(request, contestant, concurrency),
    }),
};

async function drainByTwo(
  request: SuiteRequest,
  contestant: Contestant,
  concurrency: number,
): Promise<RunFigures> {
  const { backend, store, stock, options } = request;
  const { jobs } = options;
  await using place = await stock.take(contestant, jobs);
  const { location } = place;
  const who = { backend, contestant: contestant.name };
  await using one = await startBenchChild(who);
  await using other = await startBenchChild(who);
  const both = [one, other];
  for (const child of both) await warmUp(request, child, contestant, concurrency);
  await store.settle(location);
  const what = { location, concurrency, numbers: jobs, target: jobs, untilEmpty: true };
  const works = await endTogether(
    both,
    both.map((child) => child.work({ ...what, limitMs: options.limitMs })),
    jobs,
  );
  const left = await jobsLeft(contestant, location);
  const { figures, rate } = workFigures({ stored: jobs, works, concurrency, wholly: true, left });
  return { ...figures, values: { twoProcesses: rate } };
}

/** Neither process knows how many jobs the other has handled: it is told when all are. */
async function endTogether(
  children: readonly BenchChild[],
  works: readonly Promise<WorkResult>[],
  jobs: number,
): Promise<readonly WorkResult[]> {
  const all = Promise.all(works);
  let ended = false;
  const end = (): void => {
    ended = true;
  };
  all.then(end, end);
  while (!ended) {
    const handled = await Promise.all(children.map((child) => child.handled()));
    if (handled.reduce((sum, each) => sum + each, 0) >= jobs) {
      await Promise.all(children.map((child) => child.finish()));
      break;
    }
    await sleep(ASK_EVERY_MS);
  }
  return all;
}
