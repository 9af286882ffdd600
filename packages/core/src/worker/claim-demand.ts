import type { Lane } from './lane.ts';

/** What a worker has in hand and wants to have. */
export interface Demand {
  /** Slots taken or promised. */
  readonly busy: number;
  /** Running and held together. */
  readonly target: number;
  /** What other lanes' waiting claims may still bring counts as in hand: nothing may be held that cannot start. */
  readonly reserve: boolean;
  /** Starts that the set rate allows; null: no rate is set. */
  readonly startable: number | null;
}

/** How many jobs this lane may claim now. Several lanes share the want evenly; what one leaves, another gets with its next call. */
export function claimDemand(lane: Lane, lanes: readonly Lane[], demand: Demand): number {
  let inHand = demand.busy;
  for (const each of lanes) inHand += each.held + (demand.reserve && each !== lane ? each.reserved : 0);
  let want = demand.target - inHand;
  if (demand.startable !== null) want = Math.min(want, demand.startable - lane.held);
  if (want <= 0) return 0;
  return lanes.length === 1 ? want : Math.max(1, Math.floor(want / lanes.length));
}
