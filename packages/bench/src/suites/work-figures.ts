import { distinctIn } from '../child/seen.ts';
import type { WorkResult } from '../child/work.ts';
import type { RunFigures } from '../report.ts';
import { failureOf } from './account.ts';

export interface Worked {
  /** Jobs in the store before, or until the end where some came in between. */
  readonly stored: number;
  /** Of all worker processes. */
  readonly works: readonly WorkResult[];
  /** Of each of them. */
  readonly concurrency: number;
  /** Every stored job had to be handled. */
  readonly wholly: boolean;
  readonly left: number;
  /** When the clock began to run; the start of the first worker when left out. */
  readonly from?: number;
}

export interface WorkFigures {
  readonly figures: Omit<RunFigures, 'values'>;
  /** Jobs a second. */
  readonly rate: number;
}

export function workFigures({ stored, works, concurrency, wholly, left, from }: Worked): WorkFigures {
  const cut = works.some((work) => work.cut);
  const sum = (of: (work: WorkResult) => number): number => works.reduce((all, work) => all + of(work), 0);
  const startedAt = from ?? Math.min(...works.map((work) => work.startedAt));
  const endedAt = Math.max(...works.map((work) => work.endedAt));
  const handled = sum((work) => work.handled);
  const failure = failureOf({
    stored,
    expected: wholly && !cut ? stored : null,
    concurrency: concurrency * works.length,
    starts: sum((work) => work.starts),
    distinct: distinctIn(works.map(({ seen }) => seen)),
    emptied: works.every(({ emptied }) => emptied),
    left,
  });
  return { figures: { jobs: handled, cut, left, failure }, rate: (handled / (endedAt - startedAt)) * 1000 };
}

/** Of the workers, and of the server where it could be seen, in microseconds a job. */
export function cpuPerJob(
  works: readonly WorkResult[],
  serverUs: readonly [before: number | null, after: number | null],
): number {
  const handled = works.reduce((all, work) => all + work.handled, 0);
  const workers = works.reduce((all, { cpuUs }) => all + cpuUs, 0);
  const [before, after] = serverUs;
  return (workers + (before === null || after === null ? 0 : after - before)) / handled;
}
