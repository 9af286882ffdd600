import { createClient } from '@surety/core';
import type { DeadLetter } from '@surety/core/contract';
import { traced } from '@surety/core/trace';
import { besides } from '../stage/besides.ts';
import type { Drill } from '../stage/drill.ts';
import { type History, startHistory } from '../stage/history.ts';
import { nothingLeft } from '../stage/nothing-left.ts';
import { earlyStarts, type Runs, readRuns } from '../stage/retries.ts';
import type { Stage } from '../stage/stage.ts';
import type { WorkerProcess } from '../stage/worker.ts';
import { ATTEMPTS, anyJob, FEW_ATTEMPTS, mostStarts, type ReleaseArgs } from './jobs.ts';

/** See README.md. */
export const requeueFlood: Drill = {
  name: 'requeue-flood',
  summary: 'a deploy fails everything: the rate stays bounded, none dies early, the rollback recovers all',
  needs: [],
  limitMs: 400_000,
  async run(stage) {
    const history = startHistory(stage);
    const queue = stage.queue();
    const scene: Scene = { stage, history, queue, ids: await enqueue(stage, history, queue) };
    const traces = Array.from({ length: WORKERS }, () => history.file());
    const broken = await startRelease(scene, traces, true);
    stage.progress('a deploy that fails everything');
    await stage.pause(stage.quick ? QUICK_FLOOD_MS : FLOOD_MS);
    // A slow store has had few starts by then.
    await stage
      .eventually('some dead', MORE_FLOOD_MS, () => broken.some((worker) => worker.told('dead').length > 0))
      .catch(() => false);
    await Promise.all(broken.map((worker) => worker.stop()));
    judgeFlood(scene, await readRuns(traces));
    const crew = await startRelease(
      scene,
      Array.from({ length: WORKERS }, () => history.file()),
      false,
    );
    await recovers(scene, [...broken, ...crew], crew);
    await redriven(scene, crew);
    await nothingLeft(stage, queue, 'in the end');
    await Promise.all(crew.map((worker) => worker.stop()));
    await history.judge([queue]);
  },
};

interface Scene {
  readonly stage: Stage;
  readonly history: History;
  readonly queue: string;
  readonly ids: Ids;
}

/** By how many attempts the jobs have. */
interface Ids {
  readonly many: readonly string[];
  readonly few: readonly string[];
}

const JOBS = 300;
const QUICK_JOBS = 100;
/** One in ten has few attempts. */
const FEW_IN = 10;
const WORKERS = 2;
const CONCURRENCY = 20;
const FLOOD_MS = 10_000;
const QUICK_FLOOD_MS = 5000;
/** Both together are shorter than the least time in which many attempts are spent. */
const MORE_FLOOD_MS = 10_000;
const WORK_MS = 90_000;
const QUICK_WORK_MS = 15_000;
const LOOK_EVERY_MS = 100;
const PAGE = 200;

async function enqueue(stage: Stage, history: History, queue: string): Promise<Ids> {
  const backend = await stage.connect();
  await using client = createClient({ backend, trace: history.trace });
  const jobs = stage.quick ? QUICK_JOBS : JOBS;
  const job = anyJob(queue);
  const items = Array.from({ length: jobs }, (_, number) => ({
    job,
    input: { number },
    options: number % FEW_IN === 0 ? { maxAttempts: FEW_ATTEMPTS } : {},
  }));
  const results = await client.enqueueMany(items);
  const accepted = results.flatMap(({ status, id }) => (status === 'accepted' && id !== null ? [id] : []));
  stage.must('all were accepted', accepted.length === jobs, `${accepted.length} of ${jobs}`);
  stage.figure('jobs', jobs);
  return {
    many: accepted.filter((_, index) => index % FEW_IN !== 0),
    few: accepted.filter((_, index) => index % FEW_IN === 0),
  };
}

function startRelease(
  { stage, queue }: Scene,
  traces: readonly string[],
  isBroken: boolean,
): Promise<readonly WorkerProcess[]> {
  const args: ReleaseArgs = { queue, isBroken };
  const settings = { queues: [queue], concurrency: CONCURRENCY, lease: stage.leaseMs };
  const handlers = besides(import.meta.url, 'handlers');
  return Promise.all(
    traces.map((trace) => stage.worker({ handlers, args, settings: { ...settings, trace } })),
  );
}

/** A requeue without delay would start a job thousands of times a second. */
function judgeFlood({ stage, ids }: Scene, runs: Runs): void {
  const byJob = Map.groupBy(runs.starts, ({ id }) => id);
  const few = new Set(ids.few);
  const all = [...byJob].map(([id, starts]) => {
    const tookMs = (starts.at(-1)?.at ?? 0) - (starts[0]?.at ?? 0);
    return {
      starts: starts.length,
      most: mostStarts(tookMs + ROUNDING_MS, few.has(id) ? FEW_ATTEMPTS : ATTEMPTS),
    };
  });
  const over = all.filter(({ starts, most }) => starts > most);
  const worst = over.map(({ starts, most }) => `${starts} instead of ${most}`)[0];
  stage.must(
    'no job was started more often than its delays allow',
    over.length === 0,
    `${over.length}, ${worst}`,
  );
  const early = earlyStarts(runs);
  stage.must('no start before its due time', early.length === 0, `${early.length} were`);
  stage.must('every job failed in the flood', byJob.size === ids.many.length + ids.few.length);
  const from = runs.starts[0]?.at ?? 0;
  const perSecond = Map.groupBy(runs.starts, ({ at }) => Math.floor((at - from) / 1000));
  stage.figure(
    'startsPerSecond',
    [...perSecond].map(([second, { length }]) => [second, length]),
  );
  stage.figure('startsInTheFlood', runs.starts.length);
  stage.figure('mostStartsOfAJob', Math.max(...all.map(({ starts }) => starts)));
}

/** Roundings of delays and clocks. */
const ROUNDING_MS = 50;

async function recovers(
  scene: Scene,
  all: readonly WorkerProcess[],
  crew: readonly WorkerProcess[],
): Promise<void> {
  const { stage, queue, ids } = scene;
  const from = performance.now();
  const isDone = await stage
    .eventually(
      'the rest is done',
      stage.quick ? QUICK_WORK_MS : WORK_MS,
      () => {
        const done = completedBy(crew);
        stage.progress(`rolled back: ${done.size} of ${ids.many.length + ids.few.length} done`);
        return ids.many.every((id) => done.has(id));
      },
      LOOK_EVERY_MS,
    )
    .catch(() => false);
  stage.must('after the rollback every job that had attempts left is done', isDone);
  stage.figure('recoveredAfterMs', performance.now() - from);
  await settled(scene, all);
  const dead = await deadLetters(stage, queue);
  const early = dead.filter(({ id, attempt }) => attempt < (ids.few.includes(id) ? FEW_ATTEMPTS : ATTEMPTS));
  stage.must('nothing is dead before its attempts are spent', early.length === 0, `${early.length} are`);
  const spent = dead.filter(({ reason, lastError }) => reason === 'HANDLER_FAILED' && lastError !== null);
  stage.must('the dead say why', spent.length === dead.length);
  stage.must('the flood spent the attempts of some', dead.length > 0);
  stage.figure('dead', dead.length);
}

/** Jobs with few attempts are done or dead. */
async function settled({ stage, ids }: Scene, all: readonly WorkerProcess[]): Promise<void> {
  await stage.eventually('none waits', WORK_MS, () => {
    const over = new Set(
      all.flatMap(({ attempts }) =>
        attempts.flatMap(({ outcome, jobId }) =>
          outcome === 'completed' || outcome === 'dead' ? [jobId] : [],
        ),
      ),
    );
    return ids.few.every((id) => over.has(id));
  });
}

async function deadLetters(stage: Stage, queue: string): Promise<readonly DeadLetter[]> {
  const backend = await stage.open();
  const { entries } = await backend.deadLetters.list(
    { queue, limit: PAGE, cursor: null, type: null },
    stage.call,
  );
  return entries;
}

/** What died of the bad release is not lost either. */
async function redriven({ stage, history, queue }: Scene, crew: readonly WorkerProcess[]): Promise<void> {
  const dead = (await deadLetters(stage, queue)).map(({ id }) => id);
  const backend = traced(await stage.open(), history.trace);
  const outcomes =
    dead.length === 0 ? [] : await backend.deadLetters.redrive(queue, { ids: dead }, stage.call);
  const isDone = await stage
    .eventually('redriven', WORK_MS, () => dead.every((id) => completedBy(crew).has(id)), LOOK_EVERY_MS)
    .catch(() => false);
  stage.must(
    'the dead are redriven and done',
    isDone && outcomes.every(({ status }) => status === 'redriven'),
    outcomes.map(({ status }) => status).join(', '),
  );
}

function completedBy(crew: readonly WorkerProcess[]): ReadonlySet<string> {
  return new Set(
    crew.flatMap(({ attempts }) =>
      attempts.flatMap(({ outcome, jobId }) => (outcome === 'completed' ? [jobId] : [])),
    ),
  );
}
