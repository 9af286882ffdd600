import { loadContestant } from '../contestants/registry.ts';
import type { Run } from '../report.ts';
import { drainInChild } from '../run-in-child.ts';
import { payloads } from './payloads.ts';
import type { Suite, SuiteRequest } from './suite.ts';
import type { DrainResult } from './time-drain.ts';

/** Worked off by the same process before, from another place: code is compiled, and no run pays for that. */
const WARM_UP_JOBS = 1000;

/** No-op jobs that are already there, one worker process: how many a second, until none is left. */
export const drain: Suite = {
  name: 'drain',
  async run({ options, contestants, ...rest }) {
    const runs: Run[] = [];
    for (let round = 1; round <= options.rounds; round += 1) {
      // Whoever comes second may find the machine in another state, so they take turns at that.
      const order = round % 2 === 1 ? contestants : contestants.toReversed();
      for (const concurrency of options.concurrency) {
        for (const contestant of order) {
          const run = await runOnce({ ...rest, options, contestants }, { round, concurrency, contestant });
          runs.push(run);
          rest.onRun(run);
        }
      }
    }
    return runs;
  },
};

interface Turn {
  readonly round: number;
  readonly concurrency: number;
  readonly contestant: string;
}

async function runOnce({ backend, store, options }: SuiteRequest, turn: Turn): Promise<Run> {
  const { jobs } = options;
  const contestant = await loadContestant(backend, turn.contestant);
  const places = [await store.create(), await store.create()] as const;
  const [location, warmUp] = places;
  try {
    for (const [place, count] of [[location, jobs] as const, [warmUp, WARM_UP_JOBS] as const]) {
      await contestant.prepare(place);
      await contestant.fill(place, payloads(count));
    }
    const stored = await jobsLeft(location);
    if (stored !== jobs) throw new Error(`${turn.contestant} stored ${stored} of ${jobs} jobs`);

    const measured = await drainInChild({
      backend,
      contestant: turn.contestant,
      store,
      warmUp: { location: warmUp, jobs: WARM_UP_JOBS, concurrency: turn.concurrency },
      drain: { location, jobs, concurrency: turn.concurrency },
    });
    const left = await jobsLeft(location);
    return describeRun(turn, jobs, measured, left);
  } finally {
    for (const place of places) await store.drop(place);
  }

  async function jobsLeft(place: string): Promise<number> {
    const observer = await contestant.observe(place);
    const left = await observer.jobsLeft();
    await observer.close();
    return left;
  }
}

export interface Measured {
  readonly result: DrainResult;
  readonly serverCpuUs: number | null;
}

/** A run counts only when every job was seen by a handler once and none is left in the store. */
export function describeRun(turn: Turn, jobs: number, { result, serverCpuUs }: Measured, left: number): Run {
  const { elapsedMs, handledMs, cpuUs, starts, distinct, emptied } = result;
  let failure: string | null = null;
  if (distinct !== jobs) failure = `${jobs - distinct} jobs were never handled`;
  else if (starts !== jobs) failure = `${starts - jobs} jobs were handled more than once`;
  else if (left !== 0 || !emptied) failure = `all jobs were handled, but ${left} are still stored`;
  return {
    suite: drain.name,
    ...turn,
    jobs,
    elapsedMs,
    handledMs,
    throughput: (jobs / elapsedMs) * 1000,
    workerCpuUsPerJob: cpuUs / jobs,
    serverCpuUsPerJob: serverCpuUs === null ? null : serverCpuUs / jobs,
    left,
    failure,
  };
}
