import type { WriteTransaction } from '../transaction.ts';

/**
 * What one claim moves at most, so that it stays short: about two milliseconds each. What is left is moved by the
 * next claim; and a claim that finds nothing else goes on at once.
 */
const DUE_STEP = 500;
const LOST_STEP = 250;
/** Ended claims looked at in one step. */
const CLAIM_STEP = 8;

interface EndedClaim {
  readonly id: number;
  readonly until: number;
  readonly held: number;
}

/** Makes ready what is due, oldest first. */
export function moveDue(tx: WriteTransaction, queue: number): void {
  const moved = Number(tx.st.moveDue.run(queue, tx.now, DUE_STEP).changes);
  if (moved === 0) return;
  tx.st.dropDue.run(queue, queue, tx.now, DUE_STEP);
  tx.moved(queue, moved, -moved, 0);
}

/** Makes ready what its holder has lost, oldest first. */
export function moveLost(tx: WriteTransaction, queue: number): void {
  let left = LOST_STEP;
  for (const claim of tx.st.listExpired.all(queue, tx.now, CLAIM_STEP) as unknown as EndedClaim[]) {
    if (left === 0) return;
    const count = Math.min(left, claim.held);
    returnLost(tx, claim, count);
    tx.moved(queue, count, 0, 0);
    left -= count;
  }
}

function returnLost({ st }: WriteTransaction, claim: EndedClaim, count: number): void {
  st.chargeLost.run(claim.until, claim.id, count);
  st.returnLost.run(claim.until, claim.id, count);
  st.dropLost.run(claim.id, claim.id, count);
  if (count === claim.held) st.dropClaim.run(claim.id);
  else st.shrinkClaim.run(count, claim.id);
}
