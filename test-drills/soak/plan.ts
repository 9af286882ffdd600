import { seededRandom } from '../stage/random.ts';

/** Whom a fault strikes. Faults of one lane follow each other, lanes go on at the same time. */
export type Lane = 'actors' | 'surroundings';

/** Kinds of faults of one lane, and how often each is drawn, relative to each other. */
const WEIGHTS = {
  actors: {
    'kill-worker': 6,
    'freeze-worker': 4,
    'clock-jump': 4,
    'rolling-restart': 1,
    'kill-producer': 1,
  },
  surroundings: {
    'broker-restart': 2,
    'broker-kill': 2,
    'broker-pause': 3,
    'connections-cut': 4,
    'connections-silent': 3,
    'network-slow': 3,
    'answers-dropped': 3,
    'service-loses-answers': 3,
    'service-doubles': 3,
  },
} as const;

/** A kind of fault. */
export type FaultKind = keyof (typeof WEIGHTS)['actors'] | keyof (typeof WEIGHTS)['surroundings'];

/** One fault of a plan. */
export interface PlannedFault {
  /** Since the begin of the load. */
  readonly atMs: number;
  readonly lane: Lane;
  readonly kind: FaultKind;
  readonly lastsMs: number;
  /** From 0 to 1: which of those that it can strike; by how much. */
  readonly draw: number;
}

/** What a plan is made for. */
export interface PlanRequest {
  readonly seed: number;
  readonly forMs: number;
  readonly count: number;
  /** What is possible at this place. */
  readonly kinds: readonly FaultKind[];
  readonly leaseMs: number;
}

/** Some calm first, so that everybody is at work; and an end in time for the last one to be felt. */
const CALM = { first: 0.02, last: 0.97 } as const;
/** What strikes actors is possible everywhere, and what strikes surroundings takes longer. */
const ACTORS_SHARE = 0.6;

/** The same request makes the same plan: a run is repeated by its seed. */
export function planFaults({ seed, forMs, count, kinds, leaseMs }: PlanRequest): readonly PlannedFault[] {
  const random = seededRandom(seed);
  const bags = {
    actors: bagOf(WEIGHTS.actors, kinds),
    surroundings: bagOf(WEIGHTS.surroundings, kinds),
  };
  const faults = Array.from({ length: count }, (): PlannedFault => {
    const share = random.next();
    const wanted: Lane = share < ACTORS_SHARE ? 'actors' : 'surroundings';
    const lane: Lane = bags[wanted].length > 0 ? wanted : other(wanted);
    const kind = random.pick(bags[lane]);
    const atMs = Math.round(forMs * (CALM.first + random.next() * (CALM.last - CALM.first)));
    return { atMs, lane, kind, lastsMs: lastsMs(kind, random.next(), leaseMs), draw: random.next() };
  });
  return faults.sort((a, b) => a.atMs - b.atMs);
}

function other(lane: Lane): Lane {
  return lane === 'actors' ? 'surroundings' : 'actors';
}

function bagOf(
  weights: Readonly<Partial<Record<FaultKind, number>>>,
  kinds: readonly FaultKind[],
): FaultKind[] {
  return kinds.flatMap((kind) => Array.from({ length: weights[kind] ?? 0 }, () => kind));
}

function lastsMs(kind: FaultKind, draw: number, leaseMs: number): number {
  if (kind === 'freeze-worker') return Math.round(leaseMs * (1.1 + draw));
  if (kind.startsWith('service-')) return Math.round(2000 + 4000 * draw);
  return Math.round(200 + 2300 * draw);
}
