/** Something that takes turns. */
export interface TurnTaker {
  readonly weight: number;
  credit: number;
  readonly held: number;
}

/**
 * Smooth weighted turns among the queues that have something to start: each gains its weight, the richest goes and pays the sum. A
 * queue of weight 2 starts two jobs for each one of weight 1, interleaved; none starves.
 */
export function nextInTurn<Taker extends TurnTaker>(takers: readonly Taker[]): Taker | null {
  const only = takers.length === 1 ? takers[0] : undefined;
  if (only !== undefined) return only.held > 0 ? only : null;
  let best: Taker | null = null;
  let sum = 0;
  for (const taker of takers) {
    if (taker.held === 0) continue;
    sum += taker.weight;
    taker.credit += taker.weight;
    if (best === null || taker.credit > best.credit) best = taker;
  }
  if (best !== null) best.credit -= sum;
  return best;
}
