import type { Lane } from './lane.ts';

/** How many jobs a lane may claim now, and how long the claim may wait for a first one. */
export interface Ask {
  /** 0: no claim. */
  readonly max: number;
  readonly waitMs: number;
  /** Need not wait for what is held, or for a settling call: no more comes than can start by then. */
  readonly beside: boolean;
}

/** No claim. */
export const NO_ASK: Ask = Object.freeze({ max: 0, waitMs: 0, beside: false });
const LONG_WAIT_MS = 10_000;
/** Where a waiting claim takes slots from other lanes, it gives them back after this long. */
const SHARED_WAIT_MS = 1000;

/** What a worker has in hand and wants to have. */
export interface Demand {
  /** Slots taken or promised. */
  readonly busy: number;
  /** Running and held together. */
  readonly target: number;
  /** Nothing may be held that cannot start: what every waiting claim may still bring counts as in hand. */
  readonly strict: boolean;
  /** Starts that the set rate allows; null: no rate is set. */
  readonly startable: number | null;
}

/**
 * The share of one lane. Lanes that brought jobs last time divide the want by weight. A quiet lane may wait beside them, but where its
 * claim would take the last slot it only asks, so that an idle queue never keeps a busy one from working.
 */
export function claimDemand(lane: Lane, lanes: readonly Lane[], demand: Demand): Ask {
  let held = 0;
  let reserved = 0;
  let busyWeight = 0;
  let weight = 0;
  for (const each of lanes) {
    held += each.held;
    weight += each.weight;
    if (!each.isQuiet) busyWeight += each.weight;
    if (each === lane || demand.strict || !each.isQuiet) reserved += each.reserved;
  }
  let want = demand.target - demand.busy - held - reserved;
  if (demand.startable !== null) want = Math.min(want, demand.startable - held - reserved);
  if (want <= 0) return NO_ASK;
  // Under a rate half of what is in hand may be used up before more is fetched, so that claims stay worth their round trip.
  const beside = (max: number): boolean => demand.startable !== null && lane.held <= max;
  if (lanes.length === 1) return { max: want, waitMs: LONG_WAIT_MS, beside: beside(want) };
  const sharers = lane.isQuiet ? weight : busyWeight;
  const max = Math.max(1, Math.floor((want * lane.weight) / sharers));
  // What it may bring is kept from the others meanwhile: it asks, and waits only once it is known to be quiet.
  if (!lane.isQuiet) return { max, waitMs: 0, beside: beside(max) };
  if (!demand.strict) return { max, waitMs: LONG_WAIT_MS, beside: false };
  return { max, waitMs: busyWeight > 0 && want === 1 ? 0 : SHARED_WAIT_MS, beside: beside(max) };
}
