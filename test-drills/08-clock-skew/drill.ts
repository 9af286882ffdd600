import { createClient } from '@surety/core';
import { besides } from '../stage/besides.ts';
import type { Drill } from '../stage/drill.ts';
import { type History, startHistory } from '../stage/history.ts';
import { nothingLeft } from '../stage/nothing-left.ts';
import { earlyStarts, readRuns } from '../stage/retries.ts';
import type { Stage } from '../stage/stage.ts';
import type { WorkerProcess } from '../stage/worker.ts';
import { failingJob, longJob, parentJob, type SkewArgs } from './jobs.ts';
import { judgeDelays, judgeWaits } from './judge-times.ts';

/** See README.md. */
export const clockSkew: Drill = {
  name: 'clock-skew',
  summary: 'clocks of workers are minutes off and jump: nothing comes early or late, no lease ends by them',
  needs: [],
  limitMs: 400_000,
  async run(stage) {
    const history = startHistory(stage);
    const queue = stage.queue();
    const traces = SKEWS_MS.map(() => history.file());
    const crew = await Promise.all(
      SKEWS_MS.map((skewMs, index) => startSkewed(stage, queue, skewMs, traces[index] ?? history.file())),
    );
    const jumps = jumpAround(stage, history, crew[JUMPING]);
    const jobs = await enqueue(stage, history, queue);
    await finish(stage, crew, jobs);
    const jumped = await jumps.stop();
    judgeDelays(stage, crew, jobs.parents);
    judgeWaits(stage, crew);
    judgeLeases(stage, crew);
    await nothingLeft(stage, queue, 'while clocks are off');
    await reclaimed(stage, history, queue, crew);
    await Promise.all(crew.map((worker) => worker.stop()));
    const early = earlyStarts(await readRuns(traces));
    stage.must('no retry starts before its due time', early.length === 0, `${early.length} did`);
    await nothingLeft(stage, queue, 'in the end');
    await history.judge([queue]);
    stage.figure('clocksOffMs', SKEWS_MS);
    stage.figure('jumps', jumped);
  },
};

const MINUTE_MS = 60_000;
/** The third one jumps, up to hours both ways. */
const SKEWS_MS: readonly number[] = [7 * MINUTE_MS, -7 * MINUTE_MS, 0];
const JUMPING = 2;
const JUMP_EVERY_MS = 300;
const FAR_MS = 180 * MINUTE_MS;
const CONCURRENCY = 8;
const PARENTS = 60;
const LONGS = 12;
const FAILING = 30;
const WORK_MS = 90_000;

function startSkewed(
  stage: Stage,
  queue: string,
  clockSkewMs: number,
  trace: string,
): Promise<WorkerProcess> {
  const args: SkewArgs = { queue };
  return stage.worker({
    handlers: besides(import.meta.url, 'handlers'),
    args,
    clockSkewMs,
    settings: { queues: [queue], concurrency: CONCURRENCY, lease: stage.leaseMs, claimAhead: false, trace },
  });
}

interface Jobs {
  readonly parents: readonly string[];
  readonly others: readonly string[];
}

async function enqueue(stage: Stage, history: History, queue: string): Promise<Jobs> {
  await using client = createClient({ backend: await stage.connect(), trace: history.trace });
  const part = stage.quick ? 3 : 1;
  const many = <T>(count: number, one: () => Promise<T>): Promise<readonly T[]> =>
    Promise.all(Array.from({ length: Math.ceil(count / part) }, one));
  const parent = parentJob(queue);
  const failing = failingJob(queue);
  const long = longJob(queue);
  stage.progress('delays, renewals and retries while clocks are off');
  const [longs, parents, failures] = await Promise.all([
    many(LONGS, () => idOf(client.enqueue(long, { workMs: longMs(stage) }))),
    many(PARENTS, () => idOf(client.enqueue(parent, { delayMs: stage.random.int(300, 4000) }))),
    many(FAILING, () => idOf(client.enqueue(failing, { number: 0 }))),
  ]);
  return { parents, others: [...longs, ...failures] };
}

/** Renewed several times. */
function longMs({ leaseMs }: Stage): number {
  return leaseMs * 2.5;
}

async function idOf(result: Promise<{ readonly id: string }>): Promise<string> {
  return (await result).id;
}

/** Sets the clock of a worker again and again, to both sides. */
function jumpAround(
  stage: Stage,
  { trace }: History,
  worker: WorkerProcess | undefined,
): { readonly stop: () => Promise<number> } {
  let isOver = false;
  let count = 0;
  const jumping = (async () => {
    while (!isOver && !stage.signal.aborted) {
      const toMs = stage.random.int(-FAR_MS, FAR_MS);
      trace.fault('clock-jump', { note: `${toMs} ms` });
      worker?.setClock(toMs);
      count += 1;
      await new Promise((resolve) => setTimeout(resolve, JUMP_EVERY_MS));
    }
  })();
  return {
    async stop() {
      isOver = true;
      await jumping;
      return count;
    },
  };
}

async function finish(stage: Stage, crew: readonly WorkerProcess[], jobs: Jobs): Promise<void> {
  const isDone = await stage
    .eventually('all done', WORK_MS, () => {
      const done = completedBy(crew);
      const ran = crew.flatMap((worker) => worker.told('ran')).length;
      return [...jobs.parents, ...jobs.others].every((id) => done.has(id)) && ran >= jobs.parents.length;
    })
    .catch(() => false);
  stage.must('every job is done', isDone);
}

function completedBy(crew: readonly WorkerProcess[]): ReadonlySet<string> {
  const attempts = crew.flatMap((worker) => worker.attempts);
  return new Set(attempts.flatMap(({ outcome, jobId }) => (outcome === 'completed' ? [jobId] : [])));
}

function judgeLeases(stage: Stage, crew: readonly WorkerProcess[]): void {
  const lost = crew.flatMap((worker) => worker.told('lease-lost'));
  stage.must('no lease is lost to a clock', lost.length === 0, `${lost.length} were`);
  const long = crew.flatMap(({ attempts }) => attempts).filter(({ type }) => type === 'drill.long');
  stage.must(
    'what outlives its lease is renewed and runs once',
    long.length > 0 && long.every(({ attempt }) => attempt === 1),
    long.map(({ attempt }) => attempt).join(', '),
  );
  stage.figure('renewedJobs', long.length);
}

/** A worker whose clock is ahead dies: its leases end when they should all the same. */
async function reclaimed(
  stage: Stage,
  history: History,
  queue: string,
  crew: readonly WorkerProcess[],
): Promise<void> {
  const [ahead, ...others] = crew;
  if (ahead === undefined) return;
  stage.progress('a worker with a wrong clock is killed');
  await using client = createClient({ backend: await stage.connect(), trace: history.trace });
  const before = ahead.told('long-begun').length;
  const long = longJob(queue);
  // So many that the others alone cannot take them all.
  const ids = await Promise.all(
    Array.from({ length: crew.length * CONCURRENCY }, () =>
      idOf(client.enqueue(long, { workMs: longMs(stage) })),
    ),
  );
  await stage.eventually('it has some', WORK_MS, () => ahead.told('long-begun').length > before);
  const its = new Set(ahead.told<string>('long-begun').slice(before));
  history.trace.fault('kill-worker');
  await ahead.kill();
  const from = performance.now();
  const again = (): boolean => {
    const begun = new Set(others.flatMap((worker) => worker.told<string>('long-begun')));
    return [...its].every((id) => begun.has(id));
  };
  // Others may be busy with long jobs of their own when the leases end.
  const withinMs = stage.leaseMs + stage.reclaimWithinMs + longMs(stage);
  const isTaken = await stage.eventually('taken over', withinMs, again).catch(() => false);
  stage.must(`its jobs are taken over within ${withinMs} ms`, isTaken);
  stage.figure('takenOverAfterMs', performance.now() - from);
  const isDone = await stage
    .eventually('all done', WORK_MS, () => ids.every((id) => completedBy(crew).has(id)))
    .catch(() => false);
  stage.must('its jobs are done by others', isDone);
}
