import type { AttemptEvent } from '@surety/core';
import { besides } from '../stage/besides.ts';
import type { Drill } from '../stage/drill.ts';
import { monotonicMs } from '../stage/monotonic.ts';
import { nothingLeft } from '../stage/nothing-left.ts';
import type { Stage, WorkerOrder } from '../stage/stage.ts';
import type { WorkerProcess } from '../stage/worker.ts';
import { isBlind, type Watch, watchAge } from './age-watch.ts';
import { type Downstream, excess, mostInASecond, startDownstream } from './downstream.ts';
import type { StopArgs } from './jobs.ts';
import { arithmetic, drainMs, type Plan, planOf } from './plan.ts';
import { type Producer, startProducer } from './producer.ts';

/** See README.md. */
export const stopAnHour: Drill = {
  name: 'stop-an-hour',
  summary:
    'workers stop for an hour while producers go on: the drain ends when it was forecast, the downstream sees its rate',
  needs: [],
  limitMs: 400_000,
  async run(stage) {
    const { quick, realTime, capabilities } = stage;
    const plan = planOf({ quick, realTime, moves: capabilities.moves });
    const queue = stage.queue();
    await using downstream = await startDownstream(plan.handlerMs);
    const crew: WorkerProcess[] = [];
    const site: Site = { stage, plan, queue, downstream, crew };
    // Before anything arrives: what waits for a process to start is not what is watched here.
    const orderedAt = monotonicMs();
    await startShift(site);
    const startMs = monotonicMs() - orderedAt;
    await using producer = startProducer(await stage.connect(), queue, plan.arrivalRate);
    const claimedAgeMs = (): number | null => lastClaimedAgeMs(crew);
    const watch = watchAge(stage, await stage.open(), queue, plan.alertAgeMs, claimedAgeMs);
    const scene: Scene = { ...site, producer, watch };
    await workWithABurst(scene);
    await standStill(scene);
    await drain(scene, startMs);
    await finish(scene);
  },
};

interface Site {
  readonly stage: Stage;
  readonly plan: Plan;
  readonly queue: string;
  readonly downstream: Downstream;
  /** Workers, one after the other. */
  readonly crew: WorkerProcess[];
}

interface Scene extends Site {
  readonly producer: Producer;
  readonly watch: Watch;
}

const WARM_UP_MS = 1500;
const FORECAST_TOLERANCE = 0.2;
/** A forecast is missed long before. */
const DRAIN_TIMES = 3;
const DRAIN_LEAST_MS = 30_000;
const REST_MS = 60_000;
const LOOK_EVERY_MS = 50;
/** What the worker's bucket holds when it was idle. */
const BURST_PART = 0.1;
/** How long two busy cores may hold up a call that was started in time. */
const JITTER_MS = 400;

/** A broker may hand out jobs in any order, so that the oldest of some tells more than the last one; after this time without any, none waits. */
const CLAIMED_WITHIN_MS = 2000;

function lastClaimedAgeMs(crew: readonly WorkerProcess[]): number | null {
  const since = monotonicMs() - CLAIMED_WITHIN_MS;
  const last = (crew.at(-1)?.events ?? []).filter(({ name, atMs }) => name === 'attempt' && atMs >= since);
  return last.length === 0 ? null : Math.max(...last.map(({ data }) => (data as AttemptEvent).waitMs));
}

/** Two shifts, so that a stop and a start are what they are: a process that ends and another one. */
async function startShift({ stage, plan, queue, downstream, crew }: Site): Promise<WorkerProcess> {
  const args: StopArgs = { queue, downstream: downstream.url };
  const order: WorkerOrder = {
    handlers: besides(import.meta.url, 'handlers'),
    args,
    settings: { queues: [queue], concurrency: plan.concurrency, rate: { perSecond: plan.rate } },
  };
  const worker = await stage.worker(order);
  crew.push(worker);
  return worker;
}

/** Deep and young: no reason for an alert. */
async function workWithABurst(scene: Scene): Promise<void> {
  const { stage, plan, producer, watch, crew } = scene;
  stage.progress(`work as usual, and a burst of ${plan.burst} jobs`);
  await stage.pause(WARM_UP_MS);
  await producer.burst(plan.burst);
  await stage.eventually(
    'the burst is worked off',
    REST_MS,
    () => outstanding(scene) <= plan.drainedBelow,
    LOOK_EVERY_MS,
  );
  stage.must('no alert for depth alone', watch.alerts.length === 0, JSON.stringify(watch.alerts));
  stage.figure('deepestWithoutAlert', watch.deepestWithoutAlert);
  await crew.at(-1)?.stop();
}

async function standStill({ stage, plan, watch }: Scene): Promise<void> {
  const from = monotonicMs();
  for (let leftMs = plan.stopMs; leftMs > 0; leftMs = plan.stopMs - (monotonicMs() - from)) {
    stage.progress(`workers stand still, producers go on: ${Math.ceil(leftMs / 1000)} s left`);
    await stage.pause(Math.min(1000, leftMs));
  }
  if (isBlind(stage)) return;
  const [alert] = watch.alerts;
  stage.must(
    'the alert on age fired while they stood still',
    alert?.state === 'raised',
    JSON.stringify(watch.alerts),
  );
  stage.figure('alertAfterMs', alert === undefined ? null : Math.round(alert.atMs - from));
}

/** `startMs`: what the first shift took to start. */
async function drain(scene: Scene, startMs: number): Promise<void> {
  const { stage, plan, queue, producer } = scene;
  const { ready, scheduled } = await stage.counts(await stage.open(), queue);
  const backlog = (ready.value ?? 0) + (scheduled.value ?? 0);
  const forecastMs = drainMs(plan, backlog, startMs);
  stage.figure('arithmetic', arithmetic(plan, backlog, startMs));
  stage.figure('backlog', backlog);
  stage.figure('forecastMs', forecastMs);
  await startShift(scene);
  const doneBefore = producer.accepted.length - outstanding(scene);
  const from = monotonicMs();
  const limitMs = Math.max(DRAIN_TIMES * forecastMs, DRAIN_LEAST_MS);
  const isDrained = await stage
    .eventually(
      'drained',
      limitMs,
      () => {
        stage.progress(`draining, forecast ${(forecastMs / 1000).toFixed(1)} s: ${outstanding(scene)} left`);
        return outstanding(scene) <= plan.drainedBelow;
      },
      LOOK_EVERY_MS,
    )
    .catch(() => false);
  const tookMs = monotonicMs() - from;
  stage.figure('drainMs', tookMs);
  const done = producer.accepted.length - outstanding(scene) - doneBefore;
  stage.figure('serviceRateSeen', (done * 1000) / tookMs);
  stage.figure('offForecast', tookMs / forecastMs - 1);
  stage.must(
    `the drain ended within ${FORECAST_TOLERANCE * 100} % of its forecast`,
    isDrained && Math.abs(tookMs / forecastMs - 1) <= FORECAST_TOLERANCE,
    `forecast ${Math.round(forecastMs)} ms, took ${Math.round(tookMs)} ms, ${outstanding(scene)} left`,
  );
}

async function finish(scene: Scene): Promise<void> {
  const { stage, plan, queue, downstream, producer, crew, watch } = scene;
  await producer.stop();
  const isDone = await stage
    .eventually('the rest is done', REST_MS, () => outstanding(scene) <= 0, LOOK_EVERY_MS)
    .catch(() => false);
  stage.must(
    'every accepted job was done',
    isDone,
    `${outstanding(scene)} of ${producer.accepted.length} were not`,
  );
  stage.must('every enqueue was answered', producer.failed.length === 0, producer.failed[0]);
  const isCleared = await stage
    .eventually(
      'the alert is cleared',
      watch.alerts.length === 0 ? 0 : REST_MS,
      () => watch.alerts.at(-1)?.state === 'cleared',
    )
    .catch(() => false);
  stage.must(
    'the alert fired once and was cleared',
    isCleared && watch.alerts.length === 2,
    JSON.stringify(watch.alerts),
  );
  await watch.stop();
  const { calls } = downstream;
  const burst = Math.max(1, plan.rate * BURST_PART);
  const over = excess(calls, plan.rate, burst, JITTER_MS);
  stage.must('the downstream never saw more than its rate', over <= 0, `${over.toFixed(1)} calls too many`);
  const failures = crew.flatMap((worker) => worker.told<string>('call-failed'));
  stage.must('no call to the downstream timed out', failures.length === 0, failures.join(', '));
  stage.figure('ageSource', isBlind(stage) ? 'what was claimed' : 'the store');
  stage.figure('jobs', producer.accepted.length);
  stage.figure('calls', calls.length);
  stage.figure('mostCallsInASecond', mostInASecond(calls));
  stage.figure('longestCallMs', Math.max(...crew.flatMap((worker) => worker.told<number>('called'))));
  await nothingLeft(stage, queue, 'in the end');
}

/** Accepted, and not completed. */
function outstanding({ producer, crew }: Scene): number {
  const done = new Set(
    crew.flatMap((worker) =>
      worker.attempts.filter(({ outcome }) => outcome === 'completed').map(({ jobId }) => jobId),
    ),
  );
  return producer.accepted.filter((id) => !done.has(id)).length;
}
