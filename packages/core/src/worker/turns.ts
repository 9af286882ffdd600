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

/** Something that is asked for jobs in turn. */
export interface Claimer {
  readonly weight: number;
  /** Its last claim came back empty. */
  readonly isQuiet: boolean;
  /** When it was last asked, by `performance.now()`. */
  readonly askedAt: number;
  /** Jobs it brought, divided by its weight. */
  served: number;
}

/** A quiet queue is asked at least this often while others keep all slots busy. */
export const QUIET_POLL_MS = 1000;

/**
 * Who is asked first when slots are free: a quiet queue that was not asked for a while, then whoever brought least for its weight, then
 * the other quiet ones. Without it the queue whose job just ended would take its own slot again and again.
 */
export function claimOrder<Each extends Claimer>(claimers: readonly Each[], now: number): readonly Each[] {
  if (claimers.length === 1) return claimers;
  const rank = (each: Claimer): number => {
    if (!each.isQuiet) return 1;
    return now - each.askedAt >= QUIET_POLL_MS ? 0 : 2;
  };
  return [...claimers].sort(
    (a, b) => rank(a) - rank(b) || (a.isQuiet ? a.askedAt - b.askedAt : a.served - b.served),
  );
}

/** A queue that was quiet does not make up for the time it had nothing to do. */
export function joinTurns(claimer: Claimer, all: readonly Claimer[]): void {
  let least = Number.POSITIVE_INFINITY;
  for (const each of all) if (!each.isQuiet && each !== claimer) least = Math.min(least, each.served);
  if (Number.isFinite(least)) claimer.served = Math.max(claimer.served, least);
}
