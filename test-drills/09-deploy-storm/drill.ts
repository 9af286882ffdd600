import { join } from 'node:path';
import type { AttemptEvent } from '@surety/core';
import type { Drill } from '../stage/drill.ts';
import { type History, startHistory } from '../stage/history.ts';
import type { Random } from '../stage/random.ts';
import type { Stage } from '../stage/stage.ts';
import { startHand } from '../stage/traffic/crew.ts';
import type { TrafficArgs } from '../stage/traffic/jobs.ts';
import { judgeTraffic } from '../stage/traffic/judge-traffic.ts';
import { startProducer } from '../stage/traffic/producer.ts';
import type { WorkerProcess } from '../stage/worker.ts';

/** See README.md. */
export const deployStorm: Drill = {
  name: 'deploy-storm',
  summary: 'twenty rolling restarts under load: no attempt is burnt, every job is done',
  needs: [],
  limitMs: 400_000,
  async run(stage) {
    const history = startHistory(stage);
    const args: TrafficArgs = { queue: stage.queue(), effects: join(stage.folder, 'effects.db') };
    await using producer = await startProducer(stage, history, { queue: args.queue, timeoutMs: CALL_MS });
    const all: WorkerProcess[] = [];
    const start = async (): Promise<WorkerProcess> => {
      const settings = { concurrency: SLOTS, lease: Math.min(LEASE_MS, stage.capabilities.lease.maxMs) };
      const worker = await startHand(stage, history, { args, settings });
      all.push(worker);
      return worker;
    };
    const crew = await Promise.all(Array.from({ length: WORKERS }, start));
    producer.flow(JOBS_PER_SECOND, () => workMs(stage.random));
    const restarts = stage.quick ? QUICK_RESTARTS : RESTARTS;
    const stopMs: number[] = [];
    for (let turn = 1; turn <= restarts; turn += 1) {
      stage.progress(`restart ${turn} of ${restarts}`);
      stopMs.push(await replaceOldest(stage, crew, start));
    }
    judgeStops(stage, history, all, stopMs);
    await judgeTraffic(stage, history, { args, producer, crew });
    judgeAttempts(stage, all);
  },
};

const CALL_MS = 10_000;
const WORKERS = 2;
const SLOTS = 6;
/** So long that none is lost to a busy machine: only a stop that leaves its jobs behind would show. */
const LEASE_MS = 30_000;
const RESTARTS = 20;
const QUICK_RESTARTS = 5;
/** About three quarters of what the slots of both can do. */
const JOBS_PER_SECOND = 25;
/** Shorter than long jobs, so that every restart interrupts some. */
const DRAIN_MS = 300;
const LONG_MS = 1200;
/** What a stop may take beside its drain and the backend's own bound: last settlements, on two busy cores. */
const STOP_SLACK_MS = 5000;

/** One in eight is longer than the drain. */
function workMs(random: Random): number {
  return random.int(1, 8) === 1 ? LONG_MS : random.int(20, 200);
}

/** The new one is at work before the old one stops. Answers how long the stop took. */
async function replaceOldest(
  stage: Stage,
  crew: WorkerProcess[],
  start: () => Promise<WorkerProcess>,
): Promise<number> {
  const next = await start();
  const oldest = crew.shift();
  crew.push(next);
  await stage.pause(stage.random.int(0, 200));
  const from = performance.now();
  await oldest?.stop(DRAIN_MS);
  return performance.now() - from;
}

function judgeStops(
  stage: Stage,
  { trace }: History,
  all: readonly WorkerProcess[],
  stopMs: readonly number[],
): void {
  trace.fault('deploys', { note: `${stopMs.length} orderly restarts` });
  const limitMs = DRAIN_MS + stage.capabilities.stopBoundMs + STOP_SLACK_MS;
  const longest = Math.max(...stopMs);
  stage.must(`every stop ends within ${limitMs} ms`, longest <= limitMs, `${Math.round(longest)} ms`);
  const interrupted = attemptsOf(all).filter(({ outcome }) => outcome === 'released').length;
  stage.must('the restarts interrupted jobs', interrupted > 0);
  stage.figure('restarts', stopMs.length);
  stage.figure('longestStopMs', longest);
  stage.figure('interrupted', interrupted);
}

/**
 * No failure, no loss: every start is the first one. A store that counts deliveries itself may charge what was on its way to a worker
 * when that stopped, at most what the worker had asked for; it says so by its capability.
 */
function judgeAttempts(stage: Stage, all: readonly WorkerProcess[]): void {
  const attempts = attemptsOf(all);
  const burnt = attempts.filter(({ attempt }) => attempt > 1);
  const shown = burnt.slice(0, 3).map(({ jobId, attempt, outcome }) => `${jobId} ${attempt} ${outcome}`);
  const detail = `${burnt.length}: ${shown.join(', ')}`;
  if (stage.capabilities.attempts === 'exact') stage.must('no attempt was burnt', burnt.length === 0, detail);
  else {
    const most = all.length * SLOTS;
    stage.must(`no more than the ${most} that were on their way are charged`, burnt.length <= most, detail);
  }
  stage.figure('burntAttempts', burnt.length);
  stage.figure('outcomes', countsOf(attempts));
}

function attemptsOf(all: readonly WorkerProcess[]): readonly AttemptEvent[] {
  return all.flatMap(({ attempts }) => attempts);
}

function countsOf(attempts: readonly AttemptEvent[]): Readonly<Record<string, number>> {
  const groups = Map.groupBy(attempts, ({ outcome }) => outcome);
  return Object.fromEntries([...groups].map(([outcome, group]) => [outcome, group.length]));
}
