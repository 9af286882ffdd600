import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Backend } from '@surety/core/contract';
import { openTrace, recordFinal, type Trace, traced } from '@surety/core/trace';
import { checkHistory, type HistoryReport, openJobs } from '@surety/history';
import type { Road } from '../stage/place.ts';
import type { Progress } from '../stage/progress.ts';
import type { StartActor } from './actor.ts';
import { Crew } from './crew.ts';
import { drain } from './drain.ts';
import { inject, kindsAt, type Scene } from './inject.ts';
import type { Mix } from './jobs.ts';
import { unexplained } from './judge-leftovers.ts';
import { operate } from './operate.ts';
import { planFaults } from './plan.ts';
import { makeReport, type SoakReport } from './report.ts';
import type { SoakPlace } from './soak-place.ts';
import { grown, Watch } from './watch.ts';

/** What a soak is to do. */
export interface SoakOrder {
  readonly place: SoakPlace;
  readonly jobs: number;
  /** For so long the load and the faults go on; then everything drains. */
  readonly forMs: number;
  readonly seed: number;
  readonly faults: number;
  readonly mix: Mix;
  readonly workers: number;
  readonly producers: number;
  readonly leaseMs: number;
  readonly longestDelayMs: number;
  readonly drainMs: number;
  /** For traces and logs; whoever gives it removes it. */
  readonly folder: string;
  readonly start: (roads: readonly Road[]) => StartActor;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** Facts for the report: versions. */
  readonly versions: Readonly<Record<string, string>>;
}

const QUEUE = 'soak';
/** Of a call of the actors: what is in vain ends within this time. */
const CALL_MS = 3000;
const ROADS = 2;
/** Of calls that meet no fault. */
const CALM_CALL_MS = 15_000;
const SHOW_EVERY_MS = 1000;
/** Connections of processes that have ended are gone by then. */
const CLOSE_MS = 10_000;

/** Load and faults, a drain, and what the checker says of the history. Leaves nothing running. Throws when it is broken off. */
export async function soak(order: SoakOrder): Promise<SoakReport> {
  const { place, folder, signal, progress } = order;
  await mkdir(folder, { recursive: true });
  const roads = place.road === null ? [] : await opened(place.road);
  const file = join(folder, 'soak.jsonl');
  const trace = openTrace(file);
  const backend = await openedBackend(place);
  const heldBefore = (await place.held?.()) ?? null;
  const crew = new Crew(crewPlan(order), order.start(roads));
  crew.files.push(file);
  const startedAt = new Date();
  try {
    await crew.begin();
    const watch = new Watch(place, crew);
    watch.look();
    const { mayUndo } = { mayUndo: backend.capabilities.lease.endsBy === 'time-or-connection' };
    const complaints: string[] = [];
    let last = 'begin';
    const tell = (text: string): void => {
      last = text;
    };
    const scene: Scene = { place, crew, roads, trace, mayUndo, signal, tell, complaints };
    const show = setInterval(() => {
      progress.update(`${crew.accepted} accepted, ${crew.attempts} attempts, ${last}`);
    }, SHOW_EVERY_MS);
    try {
      await load(order, scene);
      tell('operator');
      const operator = await openedBackend(place);
      await operate(traced(operator, trace), QUEUE, CALM_CALL_MS).catch((error: unknown) => {
        complaints.push(`the operator met: ${String(error)}`);
      });
      await operator.close({ graceMs: CALM_CALL_MS });
      tell('drain');
      complaints.push(...(await drain({ place, crew, queue: QUEUE, withinMs: order.drainMs, signal })));
    } finally {
      clearInterval(show);
    }
    watch.look();
    const growth = watch.end();
    await crew.stop('producer');
    await crew.stop('worker');
    signal.throwIfAborted();
    progress.update('the history is read');
    const history = await judge(place, trace, crew);
    const heldAfter = (await place.held?.()) ?? null;
    await backend.close({ graceMs: CLOSE_MS });
    const left = await connectionsLeft(place);
    if (left > 0) complaints.push(`${left} connections are left after everything was closed`);
    const leftovers =
      heldBefore === null || heldAfter === null
        ? []
        : unexplained(heldBefore, heldAfter, history.account.dead);
    return makeReport({
      order,
      startedAt,
      history,
      growth,
      held: heldAfter,
      complaints: [...complaints, ...crewComplaints(crew), ...grown(growth), ...leftovers],
      failedStarts: crew.complaints.length,
    });
  } finally {
    await crew.kill();
    await backend.close({ graceMs: CLOSE_MS }).catch(() => undefined);
    await Promise.all(roads.map((road) => road[Symbol.asyncDispose]()));
  }
}

function crewPlan(order: SoakOrder): ConstructorParameters<typeof Crew>[0] {
  const { jobs, forMs, seed, mix, workers, producers, leaseMs, longestDelayMs, folder } = order;
  const common = { queue: QUEUE, leaseMs, callMs: CALL_MS, mix, longestDelayMs };
  return { common, workers, producers, jobs, perSecond: (jobs * 1000) / forMs, seed, folder };
}

async function opened(road: () => Promise<Road>): Promise<readonly Road[]> {
  return Promise.all(Array.from({ length: ROADS }, road));
}

async function openedBackend(place: SoakPlace): Promise<Backend> {
  const backend = await place.open();
  await backend.open({ timeoutMs: CALM_CALL_MS, notify: () => undefined });
  return backend;
}

/** Until the time is over, every fault of the plan was injected and every job was accepted. */
async function load(order: SoakOrder, scene: Scene): Promise<void> {
  const { seed, forMs, faults: count, leaseMs, signal } = order;
  const plan = planFaults({ seed, forMs, count, leaseMs, kinds: kindsAt(order.place) });
  const from = performance.now();
  await inject(scene, plan, from);
  const leftMs = forMs - (performance.now() - from);
  if (leftMs > 0) await sleep(leftMs, undefined, { signal }).catch(() => undefined);
  const until = performance.now() + order.drainMs;
  while (!scene.crew.isProduced && performance.now() < until && !signal.aborted)
    await sleep(SHOW_EVERY_MS / 10);
  signal.throwIfAborted();
  if (!scene.crew.isProduced) scene.complaints.push('not every job was accepted in time');
}

async function judge(place: SoakPlace, trace: Trace, crew: Crew): Promise<HistoryReport> {
  const backend = await openedBackend(place);
  try {
    const ids = backend.capabilities.lookup ? await openJobs(crew.files) : [];
    await recordFinal(trace, backend, { queues: [QUEUE], ids, timeoutMs: CALM_CALL_MS });
  } finally {
    await backend.close({ graceMs: CLOSE_MS });
  }
  trace.close();
  return checkHistory(crew.files);
}

async function connectionsLeft({ connections }: SoakPlace): Promise<number> {
  if (connections === null) return 0;
  const until = performance.now() + CLOSE_MS;
  while (connections() > 0 && performance.now() < until) await sleep(SHOW_EVERY_MS / 10);
  return connections();
}

function crewComplaints(crew: Crew): readonly string[] {
  return [...crew.at('worker'), ...crew.at('producer')].flatMap(({ state }) => state.complaint ?? []);
}
