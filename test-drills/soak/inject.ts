import { setTimeout as sleep } from 'node:timers/promises';
import type { Trace } from '@surety/core/trace';
import type { Road } from '../stage/place.ts';
import type { Crew } from './crew.ts';
import type { FaultKind, Lane, PlannedFault } from './plan.ts';
import type { SoakPlace } from './soak-place.ts';

/** What faults are done to. */
export interface Scene {
  readonly place: SoakPlace;
  readonly crew: Crew;
  readonly roads: readonly Road[];
  readonly trace: Trace;
  /** A lease ends with the connection: then an acknowledgement is what ends it, which no such broker writes before it counts it. */
  readonly mayUndo: boolean;
  readonly signal: AbortSignal;
  readonly tell: (text: string) => void;
  /** What went wrong in a fault itself. */
  readonly complaints: string[];
}

type Deed = (scene: Scene, fault: PlannedFault) => Promise<void>;

/** A clock may be an hour off, either way. */
const MOST_SKEW_MS = 3_600_000;
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

const DEEDS: Readonly<Record<FaultKind, Deed>> = {
  'kill-worker': async ({ crew, trace }, { kind, draw }) => {
    const victim = picked(crew.at('worker', true), draw);
    if (victim?.running !== true) return;
    trace.fault(kind, { note: victim.task.name });
    await victim.kill();
  },
  'kill-producer': async ({ crew, trace }, { kind, draw }) => {
    const victim = picked(crew.at('producer', true), draw);
    if (victim?.running !== true) return;
    trace.fault(kind, { note: victim.task.name });
    await victim.kill();
  },
  'freeze-worker': async ({ crew, trace }, { kind, draw, lastsMs }) => {
    const victim = picked(crew.at('worker'), draw);
    if (victim?.running !== true) return;
    trace.fault(kind, { phase: 'begin', note: victim.task.name });
    victim.freeze();
    await sleep(lastsMs);
    victim.thaw();
    trace.fault(kind, { phase: 'end' });
  },
  'clock-jump': async ({ crew, trace }, { kind, draw }) => {
    const victim = picked(crew.at('worker'), draw);
    if (victim?.running !== true) return;
    // Whom, and by how much, from the one draw.
    const skewMs = Math.round((((draw * 997) % 1) * 2 - 1) * MOST_SKEW_MS);
    trace.fault(kind, { note: `${victim.task.name} ${skewMs} ms` });
    victim.setClock(skewMs);
  },
  'rolling-restart': async ({ crew, trace }, { kind }) => {
    trace.fault(kind, { phase: 'begin' });
    await crew.roll();
    trace.fault(kind, { phase: 'end' });
  },
  'broker-restart': (scene, fault) => awayFor(scene, fault, false, 'stop'),
  'broker-kill': (scene, fault) => awayFor(scene, fault, scene.mayUndo, 'kill'),
  'broker-pause': async ({ place, trace }, { kind, lastsMs }) => {
    trace.fault(kind, { phase: 'begin' });
    await place.server?.pause();
    await sleep(lastsMs);
    await place.server?.resume();
    trace.fault(kind, { phase: 'end' });
  },
  'connections-cut': async ({ roads, trace }, { kind }) => {
    trace.fault(kind);
    for (const road of roads) road.cut();
  },
  'connections-silent': (scene, fault) =>
    onRoads(scene, fault, (road) => road.blackhole(fault.draw < 0.5 ? 'existing' : 'all')),
  'network-slow': (scene, fault) =>
    onRoads(scene, fault, (road) => road.slow(20 + Math.round(200 * fault.draw))),
  'answers-dropped': (scene, fault) => onRoads(scene, fault, (road) => road.dropAnswers()),
  'service-loses-answers': (scene, fault) =>
    inMood(scene, fault, {
      lostAnswer: {
        SendMessageBatch: 0.05,
        ReceiveMessage: 0.02,
        DeleteMessageBatch: 0.05,
        ChangeMessageVisibilityBatch: 0.05,
      },
    }),
  'service-doubles': (scene, fault) =>
    inMood(scene, fault, { duplicateReceive: 0.03, deletedComesBack: 0.03 }),
};

/** The kinds that are possible at a place. */
export function kindsAt({ server, road, service }: SoakPlace): readonly FaultKind[] {
  const kinds: FaultKind[] = [
    'kill-worker',
    'freeze-worker',
    'clock-jump',
    'rolling-restart',
    'kill-producer',
  ];
  if (server !== null) kinds.push('broker-restart', 'broker-kill', 'broker-pause');
  if (road !== null) kinds.push('connections-cut', 'connections-silent', 'network-slow', 'answers-dropped');
  if (service !== null) kinds.push('service-loses-answers', 'service-doubles');
  return kinds;
}

/** Injects the faults of a plan, each at its time or, where one before takes longer, after it. Answers how many it did. */
export async function inject(scene: Scene, plan: readonly PlannedFault[], from: number): Promise<number> {
  const lanes: readonly Lane[] = ['actors', 'surroundings'];
  const counts = await Promise.all(
    lanes.map((lane) =>
      injectLane(
        scene,
        plan.filter((fault) => fault.lane === lane),
        from,
      ),
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

async function injectLane(scene: Scene, faults: readonly PlannedFault[], from: number): Promise<number> {
  let done = 0;
  for (const fault of faults) {
    const waitMs = fault.atMs - (performance.now() - from);
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: scene.signal }).catch(() => undefined);
    if (scene.signal.aborted) return done;
    scene.tell(fault.kind);
    try {
      await DEEDS[fault.kind](scene, fault);
      done += 1;
    } catch (error) {
      scene.complaints.push(`${fault.kind}: ${String(error)}`);
    }
  }
  return done;
}

/** Taken away and brought back with the same data. */
async function awayFor(
  { place, trace }: Scene,
  { kind, lastsMs }: PlannedFault,
  mayUndo: boolean,
  how: 'stop' | 'kill',
): Promise<void> {
  trace.fault(kind, { phase: 'begin', mayUndo });
  try {
    await place.server?.[how]();
    await sleep(lastsMs);
  } finally {
    await place.server?.start();
    trace.fault(kind, { phase: 'end', mayUndo });
  }
}

async function onRoads(
  { roads, trace }: Scene,
  { kind, lastsMs, draw }: PlannedFault,
  strike: (road: Road) => void,
): Promise<void> {
  // One of them, or both.
  const struck = draw < 0.7 ? roads.slice(draw < 0.35 ? 0 : 1).slice(0, 1) : roads;
  trace.fault(kind, { phase: 'begin' });
  for (const road of struck) strike(road);
  await sleep(lastsMs);
  await Promise.all(struck.map((road) => road.heal()));
  trace.fault(kind, { phase: 'end' });
}

async function inMood(
  { place, trace }: Scene,
  { kind, lastsMs }: PlannedFault,
  faults: Parameters<NonNullable<SoakPlace['service']>['set']>[0],
): Promise<void> {
  const { service } = place;
  if (service === null) return;
  trace.fault(kind, { phase: 'begin' });
  await service.set(faults);
  await sleep(lastsMs);
  await service.set(null);
  const bodies = await service.takeCopied();
  trace.fault(kind, { phase: 'end', jobs: bodies.flatMap((body) => ID.exec(body)?.[0] ?? []) });
}

function picked<T>(items: readonly T[], draw: number): T | undefined {
  return items[Math.min(items.length - 1, Math.floor(draw * items.length))];
}
