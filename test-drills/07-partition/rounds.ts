import type { Road } from '../stage/place.ts';

/** The call that the fault meets on its way. */
const MOMENTS = ['enqueue', 'claim', 'renew', 'settle'] as const;
/** See {@link MOMENTS}. */
export type Moment = (typeof MOMENTS)[number];

/** One way in which a road fails. */
interface Failure {
  readonly name: string;
  readonly begin: (road: Road) => void;
  /** How long it lasts; 0: a moment. */
  readonly lastsMs: number;
}

/** Longer than half a lease, so that renewals are missed; calls in vain end while it lasts. */
const LASTS_MS = 1500;
/** With a call's two ways more than what a call may take: answers come, too late. */
const SLOW_MS = 700;

/** Every way, once. */
const FAILURES: readonly Failure[] = [
  { name: 'cut', begin: (road) => road.cut(), lastsMs: 0 },
  { name: 'blackholed', begin: (road) => road.blackhole('all'), lastsMs: LASTS_MS },
  { name: 'slowed', begin: (road) => road.slow(SLOW_MS), lastsMs: LASTS_MS },
  { name: 'answers lost', begin: (road) => road.dropAnswers(), lastsMs: LASTS_MS },
];

/** One failure in the middle of one call. */
export interface Round {
  readonly moment: Moment;
  readonly failure: Failure;
}

/** Which failure meets which call in the small form: where each does most harm. */
const QUICK: Readonly<Record<Moment, string>> = {
  enqueue: 'answers lost',
  claim: 'blackholed',
  renew: 'slowed',
  settle: 'cut',
};

/** Each failure at each moment; `quick`: each once. */
export function roundsOf(quick: boolean): readonly Round[] {
  const all = MOMENTS.flatMap((moment) => FAILURES.map((failure) => ({ moment, failure })));
  return quick ? all.filter(({ moment, failure }) => QUICK[moment] === failure.name) : all;
}
