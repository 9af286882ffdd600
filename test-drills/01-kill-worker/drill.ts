import { join } from 'node:path';
import { type AttemptEvent, createClient } from '@surety/core';
import type { Backend } from '@surety/core/contract';
import { besides } from '../stage/besides.ts';
import type { Drill } from '../stage/drill.ts';
import { openEffects } from '../stage/effects.ts';
import { type History, startHistory } from '../stage/history.ts';
import { monotonicMs } from '../stage/monotonic.ts';
import { nothingLeft } from '../stage/nothing-left.ts';
import type { Stage, WorkerOrder } from '../stage/stage.ts';
import type { WorkerProcess } from '../stage/worker.ts';
import { drillJob, type KillWorkerArgs } from './jobs.ts';
import { type Round, roundsOf } from './rounds.ts';

/** See README.md. */
export const killWorker: Drill = {
  name: 'kill-worker',
  summary:
    'a worker is killed or frozen at the worst moments: its jobs are run by another within the bound, none is stranded',
  needs: [],
  limitMs: 600_000,
  async run(stage) {
    const { lease } = stage.capabilities;
    stage.figure('leaseMs', stage.leaseMs);
    stage.figure('statedReclaimBoundMs', lease.reclaimBoundMs);
    const history = startHistory(stage);
    const results: RoundResult[] = [];
    for (let turn = 0; turn < (stage.quick ? 1 : TURNS); turn += 1)
      for (const round of roundsOf(stage.random)) results.push(await play(stage, history, round));
    const took = results.flatMap(({ recoveredMs }) => recoveredMs);
    await history.judge(results.map(({ queue }) => queue));
    stage.figure('rounds', results.length);
    stage.figure('jobs', results.length * JOBS);
    stage.figure('jobsTakenOver', took.length);
    stage.figure('longestRecoveryMs', Math.max(...took));
    stage.figure(
      'effectsDoneTwice',
      results.reduce((sum, { twice }) => sum + twice, 0),
    );
    stage.figure('recoveryMsByRound', Object.fromEntries(longestByRound(results)));
  },
};

interface RoundResult {
  readonly round: string;
  readonly queue: string;
  /** Per job of the worker that went, from its going until another claimed it. */
  readonly recoveredMs: readonly number[];
  /** Jobs whose effect was done again: what a handler has to be idempotent for. */
  readonly twice: number;
}

const TURNS = 3;
/** Per round; all in the hands of the worker that goes. */
const JOBS = 3;
/** Longer than any wait for a frozen worker: its held settle must come late, not be given up. */
const CALL_MS = 120_000;
const WORK_MS = 60_000;
/** Enough for three short jobs on two busy cores; a lost one is waited for so long. */
const QUICK_WORK_MS = 20_000;

async function play(stage: Stage, history: History, round: Round): Promise<RoundResult> {
  const queue = stage.queue();
  const args: KillWorkerArgs = { queue, effects: join(stage.folder, `${queue}.db`) };
  const order: Omit<WorkerOrder, 'settings'> = {
    handlers: besides(import.meta.url, 'handlers'),
    args,
  };
  const settings = { queues: [queue], concurrency: JOBS, lease: stage.leaseMs, timeout: CALL_MS };
  const backend = await stage.open();
  const ids = await enqueue(stage, history, queue);
  const doomed = await stage.worker({
    ...order,
    settings: { ...settings, trace: history.file() },
    sabotage: round.sabotage(JOBS),
  });
  stage.progress(`${round.name}: ${doomed.name} takes the jobs`);
  await atItsPoint(stage, doomed, round);
  const survivor = await stage.worker({ ...order, settings: { ...settings, trace: history.file() } });
  const goneAt = await go(doomed, round);
  const its = claimedBy(doomed);
  stage.progress(`${round.name}: ${its.size} jobs of ${doomed.name} wait for the end of its lease`);
  const result = await takenOver(stage, { round, queue, backend, doomed, survivor, its, ids, goneAt });
  if (round.fate === 'frozen') await comesBackLate(stage, round, doomed);
  await nothingLeft(stage, queue, round.name);
  await survivor.stop();
  using effects = openEffects(args.effects);
  const runs = Map.groupBy(effects.all(), ({ key }) => key);
  stage.must(
    `${round.name}: every job had its effect`,
    ids.every((id) => runs.has(id)),
  );
  return {
    ...result,
    queue,
    round: round.name,
    twice: [...runs.values()].filter(({ length }) => length > 1).length,
  };
}

async function enqueue(stage: Stage, history: History, queue: string): Promise<readonly string[]> {
  await using client = createClient({ backend: await stage.connect(), trace: history.trace });
  const job = drillJob(queue);
  const accepted = Array.from({ length: JOBS }, (_, number) => client.enqueue(job, { number }));
  return (await Promise.all(accepted)).map(({ id }) => id);
}

/** A worker that is to die by itself has gone by then. */
async function atItsPoint(stage: Stage, doomed: WorkerProcess, { at }: Round): Promise<void> {
  await doomed.reached(at);
  if (at === 'mid-job')
    await stage.eventually('all jobs begun', WORK_MS, () => doomed.told('at:mid-job').length >= JOBS);
}

/** Answers when it went. */
async function go(doomed: WorkerProcess, { fate, at }: Round): Promise<number> {
  if (at === 'settle-sent') {
    await doomed.exited;
    return doomed.events.at(-1)?.atMs ?? monotonicMs();
  }
  const now = monotonicMs();
  if (fate === 'frozen') doomed.freeze();
  else await doomed.kill();
  return now;
}

function claimedBy(worker: WorkerProcess): ReadonlySet<string> {
  return new Set(
    worker
      .told<readonly { readonly id: string }[]>('at:claimed')
      .flat()
      .map(({ id }) => id),
  );
}

interface Takeover {
  readonly round: Round;
  readonly queue: string;
  readonly backend: Backend;
  readonly doomed: WorkerProcess;
  readonly survivor: WorkerProcess;
  /** Jobs of the one that went. */
  readonly its: ReadonlySet<string>;
  readonly ids: readonly string[];
  readonly goneAt: number;
}

async function takenOver(stage: Stage, takeover: Takeover): Promise<Pick<RoundResult, 'recoveredMs'>> {
  const { round, queue, backend, doomed, survivor, its, ids, goneAt } = takeover;
  const { lease, attempts } = stage.capabilities;
  const isDone = (id: string): boolean => completed(survivor, id).length > 0;
  // A settle whose answer nobody heard may have counted: then the job is over, and nobody claims it again.
  const mayBeOver = round.at === 'settle-sent' ? its : new Set<string>();
  const boundMs = stage.leaseMs + lease.reclaimBoundMs;
  const patienceMs = stage.leaseMs + stage.reclaimWithinMs + (stage.quick ? QUICK_WORK_MS : WORK_MS);
  await stage.eventually(`${round.name}: all jobs done by ${survivor.name}`, patienceMs, async () => {
    if (ids.every((id) => isDone(id))) return true;
    if (!ids.every((id) => isDone(id) || mayBeOver.has(id)) || monotonicMs() - goneAt < boundMs + SETTLED_MS)
      return false;
    const { ready, scheduled } = await stage.counts(backend, queue);
    return ready.value === 0 && scheduled.value === 0;
  });
  const recoveredMs = [...its].flatMap((id) => claimedAt(survivor, id).map((at) => at - goneAt));
  const worst = Math.max(0, ...recoveredMs);
  stage.must(
    `${round.name}: claimed again within lease ${stage.leaseMs} ms and bound ${lease.reclaimBoundMs} ms`,
    worst <= stage.leaseMs + stage.reclaimWithinMs,
    `after ${Math.round(worst)} ms`,
  );
  const again = [...its].flatMap((id) => completed(survivor, id));
  stage.must(
    `${round.name}: the lost claim is charged as one attempt`,
    again.every(({ attempt }) => (attempts === 'exact' ? attempt === 2 : attempt >= 2)),
    again.map(({ attempt }) => attempt).join(', '),
  );
  if (mayBeOver.size === 0)
    stage.must(
      `${round.name}: every job of it was taken over`,
      again.length === its.size && its.size > 0,
      `${again.length} of ${its.size}`,
    );
  stage.must(
    `${round.name}: ${doomed.name} completed nothing that was taken over`,
    !doomed.attempts.some(({ jobId, outcome }) => outcome === 'completed' && isDone(jobId)),
  );
  return { recoveredMs };
}

/** After the bound: for a job that was perhaps over, what nobody claimed by then nobody will claim. */
const SETTLED_MS = 1000;

function completed(worker: WorkerProcess, id: string): readonly AttemptEvent[] {
  return worker.attempts.filter(({ jobId, outcome }) => jobId === id && outcome === 'completed');
}

function claimedAt(worker: WorkerProcess, id: string): readonly number[] {
  const claims = worker.events.filter(({ name }) => name === 'at:claimed');
  const first = claims.find(({ data }) =>
    (data as readonly { readonly id: string }[]).some((fact) => fact.id === id),
  );
  return first === undefined ? [] : [first.atMs];
}

/** The frozen worker goes on where it was, past its lease: nothing that it says counts any more. */
async function comesBackLate(stage: Stage, { name, at }: Round, late: WorkerProcess): Promise<void> {
  const its = claimedBy(late);
  late.thaw();
  for (let held = 0; held < JOBS; held += 1) late.go(at);
  await stage.eventually(`${name}: the late worker has noticed`, WORK_MS, () =>
    [...its].every((id) => endOf(late, id) !== null),
  );
  const ends = [...its].map((id) => endOf(late, id));
  // `unknown`: its connection died with its lease, so that nobody told it; nothing was settled all the same.
  stage.must(
    `${name}: the late worker is fenced`,
    ends.every((end) => end === 'lease-lost' || end === 'unknown'),
    ends.join(', '),
  );
  await late.stop();
}

/** How core reported the end of a job; null: not yet. */
function endOf(worker: WorkerProcess, id: string): string | null {
  const attempt = worker.attempts.find(({ jobId }) => jobId === id);
  if (attempt !== undefined) return attempt.outcome;
  const lost = worker.told<{ readonly jobId: string }>('lease-lost').some(({ jobId }) => jobId === id);
  return lost ? 'lease-lost' : null;
}

function longestByRound(results: readonly RoundResult[]): readonly (readonly [string, number])[] {
  return [...Map.groupBy(results, ({ round }) => round)].map(([round, all]) => [
    round,
    Math.round(Math.max(0, ...all.flatMap(({ recoveredMs }) => recoveredMs))),
  ]);
}
