import { join } from 'node:path';
import type { Drill } from '../stage/drill.ts';
import { type Effects, openEffects } from '../stage/effects.ts';
import { type History, startHistory } from '../stage/history.ts';
import { monotonicMs } from '../stage/monotonic.ts';
import type { Road } from '../stage/place.ts';
import type { Stage } from '../stage/stage.ts';
import { startHand } from '../stage/traffic/crew.ts';
import type { TrafficArgs } from '../stage/traffic/jobs.ts';
import { judgeTraffic } from '../stage/traffic/judge-traffic.ts';
import { type Producer, startProducer } from '../stage/traffic/producer.ts';
import type { WorkerProcess } from '../stage/worker.ts';
import { type Moment, type Round, roundsOf } from './rounds.ts';

/** See README.md. */
export const partition: Drill = {
  name: 'partition',
  summary:
    'connections are cut, silent, slow or deaf in the middle of every call: nothing is lost or unfenced',
  needs: ['network'],
  limitMs: 600_000,
  async run(stage) {
    const history = startHistory(stage);
    const args: TrafficArgs = { queue: stage.queue(), effects: join(stage.folder, 'effects.db') };
    using effects = openEffects(args.effects);
    const hands = await Promise.all([startOnRoad(stage, history, args), startOnRoad(stage, history, args)]);
    const road = await stage.road();
    await using producer = await startProducer(stage, history, {
      queue: args.queue,
      timeoutMs: CALL_MS,
      road,
    });
    const scene: Scene = { stage, history, producer, road, hands, effects };
    await undisturbed(scene);
    const rounds = roundsOf(stage.quick);
    const doneMs: Record<string, number> = {};
    for (const [index, round] of rounds.entries()) {
      stage.progress(`${index + 1} of ${rounds.length}: ${nameOf(round)}`);
      doneMs[nameOf(round)] = Math.round(await play(scene, round));
    }
    stage.figure('rounds', rounds.length);
    stage.figure('doneMsByRound', doneMs);
    stage.must(
      `every enqueue is answered within ${CALL_MS} ms`,
      producer.longestCallMs < CALL_MS + ANSWER_SLACK_MS,
      `the longest took ${Math.round(producer.longestCallMs)} ms`,
    );
    await judgeTraffic(stage, history, { args, producer, crew: hands.map(({ worker }) => worker) });
  },
};

/** A worker and the road that it alone uses. */
interface Hand {
  readonly worker: WorkerProcess;
  readonly road: Road;
}

interface Scene {
  readonly stage: Stage;
  readonly history: History;
  readonly producer: Producer;
  /** The producer's. */
  readonly road: Road;
  readonly hands: readonly Hand[];
  readonly effects: Effects;
}

/** Limit of every call, so that those in vain end while the fault lasts. */
const CALL_MS = 1000;
/** What core adds to a limit for adapters that are late, and what two busy cores take. */
const ANSWER_SLACK_MS = 2000;
/** Each way, always: long enough that a fault can meet a call on its way. */
const WAY_MS = 25;
const JOBS = 4;
const SHORT_WORK_MS = 50;
/** Pauses after failed calls and new connections, beside the end of a lease. */
const PATIENCE_MS = 30_000;

async function startOnRoad(stage: Stage, history: History, args: TrafficArgs): Promise<Hand> {
  const road = await stage.road();
  const settings = { timeout: CALL_MS, concurrency: JOBS / 2, claimAhead: false };
  return { road, worker: await startHand(stage, history, { args, settings, road }) };
}

/** Everybody has a connection, and the roads are as long as roads are. */
async function undisturbed(scene: Scene): Promise<void> {
  const from = monotonicMs();
  await done(scene, await send(scene, SHORT_WORK_MS), from);
  for (const road of roadsOf(scene)) road.slow(WAY_MS);
}

/** Answers how long its jobs took. */
async function play(scene: Scene, round: Round): Promise<number> {
  const { stage, history } = scene;
  const { moment, failure } = round;
  const from = monotonicMs();
  // Long work is renewed: at a third of its lease.
  const sent = send(scene, moment === 'renew' ? stage.leaseMs : SHORT_WORK_MS);
  // A fault that comes before the answer must not look like an unhandled rejection.
  sent.catch(() => undefined);
  const road = await inTheMiddle(scene, moment, from);
  await stage.pause(stage.random.int(0, WAY_MS));
  history.trace.fault(failure.name, { phase: 'begin', note: nameOf(round) });
  failure.begin(road);
  await stage.pause(failure.lastsMs);
  await road.heal();
  road.slow(WAY_MS);
  history.trace.fault(failure.name, { phase: 'end' });
  return done(scene, await sent, from);
}

function send({ producer }: Scene, workMs: number): Promise<readonly string[]> {
  return Promise.all(Array.from({ length: JOBS }, () => producer.send(workMs)));
}

/** Resolves while a call of the kind is under way; answers on which road. */
async function inTheMiddle({ stage, road, hands }: Scene, moment: Moment, from: number): Promise<Road> {
  if (moment === 'enqueue') return road;
  // Idle workers ask all the time: the claim that brings the jobs is under way when they are stored.
  if (moment === 'claim') {
    await stage.pause(stage.random.int(WAY_MS, 4 * WAY_MS));
    return stage.random.pick(hands).road;
  }
  const point = moment === 'renew' ? 'at:renewing' : 'at:settle-sent';
  const passes = ({ worker }: Hand): boolean =>
    worker.events.some(({ name, atMs }) => name === point && atMs > from);
  const hand = await stage.eventually(`a ${moment}`, PATIENCE_MS, () => hands.find(passes), 1);
  return hand.road;
}

async function done({ stage, effects }: Scene, ids: readonly string[], from: number): Promise<number> {
  const withinMs = stage.leaseMs + stage.reclaimWithinMs + PATIENCE_MS;
  const isDone = await stage
    .eventually('done', withinMs, () => {
      const keys = new Set(effects.all().map(({ key }) => key));
      return ids.every((id) => keys.has(id));
    })
    .catch(() => false);
  stage.must(`the jobs of every round are done within ${withinMs} ms`, isDone);
  return monotonicMs() - from;
}

function roadsOf({ road, hands }: Scene): readonly Road[] {
  return [road, ...hands.map((hand) => hand.road)];
}

function nameOf({ moment, failure }: Round): string {
  return `${failure.name} in a ${moment}`;
}
