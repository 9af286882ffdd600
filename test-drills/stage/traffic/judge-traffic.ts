import { openEffects } from '../effects.ts';
import type { History } from '../history.ts';
import { monotonicMs } from '../monotonic.ts';
import { nothingLeft } from '../nothing-left.ts';
import type { Stage } from '../stage.ts';
import type { WorkerProcess } from '../worker.ts';
import { completedSince } from './crew.ts';
import type { TrafficArgs } from './jobs.ts';
import type { Producer } from './producer.ts';

/** What a drill had going. */
export interface Traffic {
  readonly args: TrafficArgs;
  readonly producer: Producer;
  /** Those that are at work in the end; all of them are stopped. */
  readonly crew: readonly WorkerProcess[];
}

const LOOK_EVERY_MS = 200;
/** A backlog of some hundred jobs, after the last lease of a lost worker. */
const REST_MS = 60_000;
/** A small one. */
const QUICK_REST_MS = 25_000;

/** Lets the traffic end, and notes that all that was accepted was done, that nothing is dead or left, and that the history is whole. */
export async function judgeTraffic(stage: Stage, history: History, traffic: Traffic): Promise<void> {
  const { args, producer, crew } = traffic;
  const restMs = stage.quick ? QUICK_REST_MS : REST_MS;
  stage.progress('the traffic ends');
  const isIn = await Promise.race([
    producer.finish().then(() => true),
    stage.pause(restMs).then(() => false),
  ]);
  const { made, accepted } = producer;
  stage.must('every job was accepted in the end', isIn, `${accepted.size} of ${made.length}`);
  using effects = openEffects(args.effects);
  const undone = (): readonly string[] => {
    const done = new Set(effects.all().map(({ key }) => key));
    return [...accepted.keys()].filter((id) => !done.has(id));
  };
  const withinMs = stage.leaseMs + stage.reclaimWithinMs + restMs;
  const isDone = await stage
    .eventually('all is done', withinMs, () => undone().length === 0, LOOK_EVERY_MS)
    .catch(() => false);
  stage.must('every accepted job had its effect', isDone, `${undone().length} had none`);
  await quiet(stage, crew);
  await nothingLeft(stage, args.queue, 'in the end');
  stage.must(
    'no worker ended by itself',
    crew.every(({ running }) => running),
  );
  await Promise.all(crew.map((worker) => worker.stop()));
  await history.judge([args.queue]);
  const perJob = Map.groupBy(effects.all(), ({ key }) => key);
  stage.figure('jobs', accepted.size);
  stage.figure('completedByTheLast', completedSince(crew, 0));
  stage.figure('doneTwice', [...perJob.values()].filter(({ length }) => length > 1).length);
  stage.figure('enqueuesRefused', producer.refusals);
  stage.figure('enqueuesUnknown', producer.unknowns);
  stage.figure('longestEnqueueMs', producer.longestCallMs);
}

/** Longer than leases and waits of the traffic: who does nothing for so long holds nothing. */
const QUIET_MS = 5000;

/** A store that cannot count what is leased looks empty while a worker still holds a copy, or is about to put it back. */
async function quiet(stage: Stage, crew: readonly WorkerProcess[]): Promise<void> {
  if (stage.capabilities.counts.leased === 'exact') return;
  const lastAt = (): number => Math.max(0, ...crew.map(({ events }) => events.at(-1)?.atMs ?? 0));
  await stage
    .eventually('quiet', REST_MS, () => monotonicMs() - lastAt() > QUIET_MS, LOOK_EVERY_MS)
    .catch(() => undefined);
}
