import type { Stage } from '../stage/stage.ts';
import type { WorkerProcess } from '../stage/worker.ts';

interface Told {
  readonly parent: string;
  readonly delayMs: number;
}

/** Roundings of clocks. */
const ROUNDING_MS = 20;
/** What two busy cores may hold up a job, and long ones that have all slots: far less than any clock is off. */
const LATE_MS = 30_000;

/** Children are due by the store's clock, whatever the clock of the worker that enqueued them said. */
export function judgeDelays(stage: Stage, crew: readonly WorkerProcess[], parents: readonly string[]): void {
  const sent = firstBy(crew, 'enqueues');
  const accepted = firstBy(crew, 'enqueued');
  const ran = firstBy(crew, 'ran');
  const early: number[] = [];
  const late: number[] = [];
  for (const parent of parents) {
    const from = sent.get(parent);
    const to = ran.get(parent);
    if (from === undefined || to === undefined) continue;
    const { delayMs } = from.data;
    early.push(from.atMs + delayMs - to.atMs);
    late.push(to.atMs - (accepted.get(parent) ?? from).atMs - delayMs);
  }
  const earliest = Math.max(...early);
  const latest = Math.max(...late);
  const limitMs = LATE_MS + stage.capabilities.delay.granularityMs;
  stage.must('there were delays to look at', early.length > 0 && early.length === parents.length);
  stage.must('no delayed job runs early', earliest <= ROUNDING_MS, `${Math.ceil(earliest)} ms`);
  stage.must(`no delayed job runs ${limitMs} ms late`, latest <= limitMs, `${Math.ceil(latest)} ms`);
  stage.figure('delayedJobs', early.length);
  stage.figure('latestMs', latest);
}

/**
 * How long a job was ready is told by the store's clock too. Where it tells no age of what is ready, each host reckons by its own clock,
 * and says so; then what they say is only a figure.
 */
export function judgeWaits(stage: Stage, crew: readonly WorkerProcess[]): void {
  const waits = crew.flatMap(({ attempts }) => attempts.map(({ waitMs }) => waitMs));
  const shortest = Math.min(...waits);
  const longest = Math.max(...waits);
  const isTold = stage.capabilities.oldestReadyAge !== 'none';
  stage.must(
    'the times that jobs are said to have waited are right',
    shortest >= 0 && (longest <= 2 * LATE_MS || !isTold),
    `${Math.round(shortest)} to ${Math.round(longest)} ms`,
  );
  stage.figure('longestWaitMs', longest);
}

function firstBy(
  crew: readonly WorkerProcess[],
  name: string,
): ReadonlyMap<string, { readonly atMs: number; readonly data: Told }> {
  const events = crew
    .flatMap((worker) => worker.events)
    .filter((event) => event.name === name)
    .sort((a, b) => b.atMs - a.atMs);
  // Later ones are overwritten by earlier ones.
  return new Map(
    events.map(({ atMs, data }) => [(data as Told).parent, { atMs, data: data as Told }] as const),
  );
}
