import { startBenchChild } from '../child/bench-child.ts';
import type { WorkResult } from '../child/work.ts';
import type { Contestant } from '../contestants/contestant.ts';
import { jobsLeft } from '../stores/stock.ts';
import type { SuiteRequest } from './suite.ts';
import { warmUp } from './warm-up.ts';
import { cpuPerJob, type WorkFigures, workFigures } from './work-figures.ts';

export interface WorkOff {
  readonly contestant: Contestant;
  readonly concurrency: number;
  /** Where jobs are stored already. */
  readonly location: string;
  readonly stored: number;
  /** The numbers of all jobs are below it. */
  readonly numbers: number;
  /** How many of them shall be handled. */
  readonly target: number;
  /** All of them, and the clock runs on until the store holds none; otherwise it stops with the last handler. */
  readonly wholly: boolean;
  /** So many times the usual time is allowed; 1 when left out. */
  readonly patience?: number;
  /** Held during the run. */
  readonly beside?: (location: string) => Promise<AsyncDisposable | null>;
}

export interface WorkedOff extends WorkFigures {
  readonly work: WorkResult;
  readonly cpu: number;
}

/** One worker process, warmed up, works off what is stored, or the target's part of it. */
export async function workOff(request: SuiteRequest, wanted: WorkOff): Promise<WorkedOff> {
  const { backend, store, options } = request;
  const { contestant, concurrency, location, stored, numbers, target, wholly, patience = 1, beside } = wanted;
  await using child = await startBenchChild({ backend, contestant: contestant.name });
  await warmUp(request, child, contestant, concurrency);
  await store.settle(location);
  await using _ = (await beside?.(location)) ?? null;
  const before = await store.cpuUs();
  const work = await child.work({
    location,
    concurrency,
    numbers,
    target,
    untilEmpty: wholly,
    limitMs: options.limitMs * patience,
  });
  const cpu = cpuPerJob([work], [before, await store.cpuUs()]);
  const left = await jobsLeft(contestant, location);
  return { ...workFigures({ stored, works: [work], concurrency, wholly, left }), work, cpu };
}
