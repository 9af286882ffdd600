import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@surety/core';
import { besides } from '../stage/besides.ts';
import type { Drill } from '../stage/drill.ts';
import { type History, startHistory } from '../stage/history.ts';
import { monotonicMs } from '../stage/monotonic.ts';
import { nothingLeft } from '../stage/nothing-left.ts';
import { earlyStarts, type Runs, readRuns } from '../stage/retries.ts';
import type { Stage } from '../stage/stage.ts';
import type { WorkerProcess } from '../stage/worker.ts';
import { distanceFromEven, mostDistance, perTenth } from './distribution.ts';
import { type DependentArgs, dependentJob, plainDelayMs } from './jobs.ts';

/** See README.md. */
export const thunderingRetry: Drill = {
  name: 'thundering-retry',
  summary: 'the dependency of a thousand waiting jobs recovers: their retries are spread, none comes early',
  needs: [],
  limitMs: 400_000,
  async run(stage) {
    const jobs = stage.quick ? QUICK_JOBS : JOBS;
    const history = startHistory(stage);
    const args: DependentArgs = { queue: stage.queue(), outage: join(stage.folder, 'outage') };
    const traces = Array.from({ length: WORKERS }, () => history.file());
    await writeFile(args.outage, 'down');
    const ids = await enqueue(stage, history, args.queue, jobs);
    const crew = await Promise.all(traces.map((trace) => start(stage, args, trace)));
    stage.progress(`${jobs} jobs meet a dependency that is down`);
    await stage.eventually('all have failed once', WORK_MS, () => failedOnce(crew) >= jobs, LOOK_EVERY_MS);
    history.trace.fault('dependency down');
    await rm(args.outage);
    const upAt = monotonicMs();
    const done = (): number => outcomes(crew, 'completed').size;
    const isDone = await stage
      .eventually(
        'all done',
        WORK_MS,
        () => {
          stage.progress(`the dependency is back: ${done()} of ${jobs} done`);
          return done() >= jobs;
        },
        LOOK_EVERY_MS,
      )
      .catch(() => false);
    stage.must('all are done once the dependency is back', isDone, `${done()} of ${ids.length}`);
    stage.figure('jobs', jobs);
    stage.figure('allDoneAfterMs', monotonicMs() - upAt);
    await nothingLeft(stage, args.queue, 'in the end');
    await Promise.all(crew.map((worker) => worker.stop()));
    judgeRetries(stage, await readRuns(traces), upAt);
    await history.judge([args.queue]);
  },
};

const JOBS = 1000;
const QUICK_JOBS = 300;
const WORKERS = 2;
const CONCURRENCY = 50;
const WORK_MS = 120_000;
const LOOK_EVERY_MS = 100;

async function enqueue(
  stage: Stage,
  history: History,
  queue: string,
  jobs: number,
): Promise<readonly string[]> {
  const backend = await stage.connect();
  await using client = createClient({ backend, trace: history.trace });
  const job = dependentJob(queue);
  const items = Array.from({ length: jobs }, (_, number) => ({ job, input: { number } }));
  const results = await client.enqueueMany(items);
  const accepted = results.flatMap(({ status, id }) => (status === 'accepted' && id !== null ? [id] : []));
  stage.must('all were accepted', accepted.length === jobs, `${accepted.length} of ${jobs}`);
  return accepted;
}

function start(stage: Stage, args: DependentArgs, trace: string): Promise<WorkerProcess> {
  return stage.worker({
    handlers: besides(import.meta.url, 'handlers'),
    args,
    settings: { queues: [args.queue], concurrency: CONCURRENCY, trace },
  });
}

function outcomes(crew: readonly WorkerProcess[], wanted: string): ReadonlySet<string> {
  const attempts = crew.flatMap((worker) => worker.attempts);
  return new Set(attempts.flatMap(({ outcome, jobId }) => (outcome === wanted ? [jobId] : [])));
}

function failedOnce(crew: readonly WorkerProcess[]): number {
  return outcomes(crew, 'retried').size;
}

function judgeRetries(stage: Stage, runs: Runs, upAt: number): void {
  const { retries, starts } = runs;
  // The jitter alone: 0 is half of the plain delay, 1 is one and a half of it.
  const jitters = retries.map(({ delayMs, attempt }) => delayMs / plainDelayMs(attempt) - 0.5);
  const distance = distanceFromEven(jitters);
  const limit = mostDistance(jitters.length);
  stage.must(
    'computed delays are evenly spread over 0.5 to 1.5 of the plain one',
    jitters.length > 0 && distance <= limit,
    `distance ${distance.toFixed(3)} of ${jitters.length} delays, at most ${limit.toFixed(3)}`,
  );
  const outside = jitters.filter((jitter) => jitter < -ROUNDING || jitter > 1 + ROUNDING);
  stage.must('no delay is outside of it', outside.length === 0, `${outside.length} are`);
  const early = earlyStarts(runs);
  stage.must(
    'no start before its due time',
    early.length === 0,
    `${early.length}, by up to ${most(early)} ms`,
  );
  stage.figure('retries', retries.length);
  stage.figure('distanceFromEven', distance.toFixed(3));
  stage.figure('mostDistance', limit.toFixed(3));
  stage.figure('delaysPerTenth', perTenth(jitters));
  stage.figure('startsPerSecondOnceItIsBack', perSecond(starts.map(({ at }) => at - upAt)));
}

/** Delays are whole ms. */
const ROUNDING = 0.001;

function most(values: readonly number[]): number {
  return Math.ceil(Math.max(0, ...values));
}

function perSecond(times: readonly number[]): readonly number[] {
  const counts: number[] = [];
  for (const at of times.filter((time) => time >= 0)) {
    const second = Math.floor(at / 1000);
    counts[second] = (counts[second] ?? 0) + 1;
  }
  return Array.from(counts, (count) => count ?? 0);
}
