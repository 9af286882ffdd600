import { join } from 'node:path';
import { createClient } from '@surety/core';
import type { Backend, DeadLetter } from '@surety/core/contract';
import { besides } from '../stage/besides.ts';
import type { Drill } from '../stage/drill.ts';
import { openEffects } from '../stage/effects.ts';
import { type Fleet, startFleet } from '../stage/fleet.ts';
import { nothingLeft } from '../stage/nothing-left.ts';
import type { Stage, WorkerOrder } from '../stage/stage.ts';
import { neighbourJob, POISON_ATTEMPTS, POISONS, type Poison, type PoisonArgs, poisonJob } from './jobs.ts';
import { secondCopiesRedriven } from './second-copies.ts';

/** See README.md. */
export const poison: Drill = {
  name: 'poison',
  summary:
    'payloads that throw, hang, exhaust memory or kill end as dead letters, and harm nobody beside them',
  needs: [],
  limitMs: 600_000,
  async run(stage) {
    const queue = stage.queue();
    const args: PoisonArgs = { queue, effects: join(stage.folder, 'effects.db'), isFixed: false };
    const backend = await stage.open();
    const scene: Scene = { stage, queue, backend, neighbours: [] };
    const fleet = await startFleet(stage, orderOf(stage, args), WORKERS);
    const dead: Dead[] = [];
    // One after the other: the log of the worker that buries one must not be lost in the crash of the next.
    for (const kind of POISONS) dead.push(await feed(scene, fleet, kind));
    await neighboursAreWell(scene, fleet, args);
    await fleet.stop();
    const { deaths } = fleet;
    const repaired = await startFleet(stage, orderOf(stage, { ...args, isFixed: true }), WORKERS);
    await redriven(scene, repaired, dead);
    if (stage.capabilities.moves === 'copy') await secondCopiesRedriven(stage, backend, { queue, deaths });
    await repaired.stop();
    await nothingLeft(stage, queue, 'in the end');
  },
};

const WORKERS = 2;
const CONCURRENCY = 4;
const NEIGHBOURS = 24;
const QUICK_NEIGHBOURS = 8;
/** Above what adapters and core need, below what takes long to fill. */
const MEMORY_MB = 96;
/** A handler that does not end gives its slot back after this. */
const ZOMBIE_MS = 2000;
/** Three leases with their ends, the waits between them, and restarts on a busy machine. */
const DEATH_MS = 150_000;
const WORK_MS = 60_000;
/** The log is flushed every second. */
const LOG_MS = 15_000;

const REASONS: Readonly<Record<Poison, string>> = {
  throws: 'HANDLER_FAILED',
  hangs: 'TIMEOUT',
  hoards: 'WORKER_LOST',
  kills: 'WORKER_LOST',
};

interface Scene {
  readonly stage: Stage;
  readonly queue: string;
  readonly backend: Backend;
  readonly neighbours: string[];
}

interface Dead {
  readonly kind: Poison;
  readonly id: string;
}

function orderOf({ leaseMs }: Stage, args: PoisonArgs): WorkerOrder {
  return {
    handlers: besides(import.meta.url, 'handlers'),
    args,
    settings: {
      queues: [args.queue],
      concurrency: CONCURRENCY,
      lease: leaseMs,
      grace: 200,
      zombie: ZOMBIE_MS,
    },
    memoryMb: MEMORY_MB,
  };
}

/** Lets one poison loose among neighbours, and waits for its death. */
async function feed(scene: Scene, fleet: Fleet, kind: Poison): Promise<Dead> {
  const { stage, queue, backend, neighbours } = scene;
  await using client = createClient({ backend: await stage.connect() });
  const neighbour = neighbourJob(queue);
  const beside = (number: number): Promise<void> =>
    client.enqueue(neighbour, { number }).then(({ id }) => void neighbours.push(id));
  const half = (stage.quick ? QUICK_NEIGHBOURS : NEIGHBOURS) / 2;
  for (let number = 0; number < half; number += 1) await beside(number);
  const { id } = await client.enqueue(poisonJob(queue), { poison: kind });
  for (let number = 0; number < half; number += 1) await beside(number);
  const from = performance.now();
  stage.progress(`a payload that ${kind}, among ${2 * half} neighbours`);
  const letter = await stage.eventually(
    `${kind}: in the dead letters`,
    DEATH_MS,
    () => backend.deadLetters.show(queue, id, stage.call),
    250,
  );
  stage.figure(kind, {
    starts: startsOf(fleet, id),
    reason: letter.reason,
    history: letter.history.length,
    toDeathMs: Math.round(performance.now() - from),
  });
  await judgeDeath(stage, fleet, kind, letter);
  return { kind, id };
}

async function judgeDeath(
  stage: Stage,
  fleet: Fleet,
  kind: Poison,
  { id, reason, history }: DeadLetter,
): Promise<void> {
  const starts = startsOf(fleet, id);
  const { attempts } = stage.capabilities;
  const isSpent = attempts === 'exact' ? starts === POISON_ATTEMPTS : starts <= POISON_ATTEMPTS;
  stage.must(`${kind}: ${POISON_ATTEMPTS} starts and no more`, isSpent && starts > 0, `${starts} starts`);
  stage.must(`${kind}: dead for its reason`, reason === REASONS[kind], reason);
  const codes = history.map(({ error }) => error.code);
  stage.must(
    `${kind}: its history tells why`,
    codes.length > 0 &&
      codes.every((code) => code === REASONS[kind]) &&
      (reason === 'WORKER_LOST' || codes.length === starts),
    codes.join(', '),
  );
  const isHeard = (): boolean =>
    fleet.told<{ readonly jobId: string }>('on-dead').some(({ jobId }) => jobId === id);
  const isLogged = (): boolean =>
    fleet.workers.some((worker) =>
      worker.log().some((line) => line['jobId'] === id && line['outcome'] === 'dead'),
    );
  const seen = (probe: () => boolean): Promise<boolean> =>
    stage.eventually('seen', LOG_MS, probe, 100).catch(() => false);
  stage.must(`${kind}: the alert hook was called`, await seen(isHeard));
  stage.must(`${kind}: a line in the log of a worker says that it is dead`, await seen(isLogged));
}

function startsOf(fleet: Fleet, id: string): number {
  return fleet.told<{ readonly id: string }>('poison-started').filter((start) => start.id === id).length;
}

/** All completed, though some of them were in a worker that died. */
async function neighboursAreWell(
  { stage, queue, neighbours, backend }: Scene,
  fleet: Fleet,
  args: PoisonArgs,
): Promise<void> {
  using effects = openEffects(args.effects);
  const done = (): number => new Set(effects.all().map(({ key }) => key)).size;
  const isDone = await stage
    .eventually('neighbours done', WORK_MS, () => done() >= neighbours.length, 100)
    .catch(() => false);
  stage.must('every neighbour was done', isDone, `${done()} of ${neighbours.length}`);
  const { entries } = await backend.deadLetters.list(
    { queue, limit: 100, cursor: null, type: 'drill.neighbour' },
    stage.call,
  );
  stage.must('no neighbour is dead', entries.length === 0, `${entries.length} are`);
  const its = fleet.attempts.filter(({ jobId }) => neighbours.includes(jobId));
  stage.figure('neighbours', neighbours.length);
  stage.figure('mostAttemptsOfANeighbour', Math.max(...its.map(({ attempt }) => attempt)));
  stage.figure('workersThatDied', fleet.deaths);
}

/** After the fix. */
async function redriven(
  { stage, queue, backend }: Scene,
  fleet: Fleet,
  dead: readonly Dead[],
): Promise<void> {
  const outcomes = await backend.deadLetters.redrive(queue, { ids: dead.map(({ id }) => id) }, stage.call);
  stage.must(
    'every dead letter can be redriven',
    outcomes.every(({ status }) => status === 'redriven'),
    outcomes.map(({ status }) => status).join(', '),
  );
  const completedIds = (): readonly string[] =>
    fleet.attempts.filter(({ outcome }) => outcome === 'completed').map(({ jobId }) => jobId);
  const isDone = await stage
    .eventually('redriven jobs completed', WORK_MS, () => dead.every(({ id }) => completedIds().includes(id)))
    .catch(() => false);
  stage.must('after the fix a redrive completes them', isDone, `${completedIds().length} of ${dead.length}`);
  const starts = fleet.told<{ readonly attempt: number; readonly redrives: number }>('poison-started');
  stage.must(
    'their attempts begin anew',
    starts.length > 0 && starts.every(({ redrives, attempt }) => redrives === 1 && attempt >= 1),
  );
  stage.figure('redriven', dead.length);
}
