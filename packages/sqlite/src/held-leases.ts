import type { Lease } from '@surety/core/contract';
import type { SqliteLease } from './job-row.ts';
import { allCells } from './row-cells.ts';
import type { ReadTransaction } from './transaction.ts';

/** A lease that lives. */
export interface Held {
  /** Where it stands in the list that was asked about; more than one index where it stands there more than once. */
  readonly indexes: readonly [number, ...number[]];
  readonly seq: number;
  readonly fence: number;
  readonly place: number;
}

/** A living claim with those of the leases asked about that it holds. */
export interface HeldClaim {
  readonly id: number;
  readonly nonce: string;
  readonly queue: number;
  /** All it holds, asked about or not. */
  readonly held: number;
  readonly leases: readonly Held[];
}

/** Columns of find-claims. */
export type ClaimCells = readonly [id: number, queue: number, until: number, held: number];
/** Columns of list-held and find-held. */
type HeldCells = readonly [seq: number, fence: number, place: number];

/** Number of a job, and where its leases stand in the list. */
type Wanted = Map<number, number[]>;

/**
 * Which leases live: their claim has not ended, and holds the very job under the very fence. What is not in the answer is lost (G2.1, G2.4, G2.8).
 */
export function findHeld(tx: ReadTransaction, leases: readonly Lease[]): HeldClaim[] {
  const byNonce = new Map<string, Wanted>();
  leases.forEach((lease, index) => {
    // A lease of another backend has no such number, and is held by nobody here.
    const seq = (lease as SqliteLease).seq ?? 0;
    const wanted = byNonce.get(lease.token.nonce);
    if (wanted === undefined) byNonce.set(lease.token.nonce, new Map([[seq, [index]]]));
    else if (wanted.has(seq)) wanted.get(seq)?.push(index);
    else wanted.set(seq, [index]);
  });
  const found: HeldClaim[] = [];
  for (const [nonce, wanted] of byNonce) {
    for (const claim of allCells<ClaimCells>(tx.st.findClaims.all(nonce, tx.now))) {
      const [id, queue, , held] = claim;
      const living = heldOf(tx, claim, wanted, leases);
      if (living.length > 0) found.push({ id, nonce, queue, held, leases: living });
    }
  }
  return found;
}

function heldOf(
  { st }: ReadTransaction,
  [claim, , , count]: ClaimCells,
  wanted: Wanted,
  leases: readonly Lease[],
): Held[] {
  const whole = wanted.size >= count;
  const rows = whole ? st.listHeld.all(claim) : st.findHeld.all(claim, JSON.stringify([...wanted.keys()]));
  const held: Held[] = [];
  for (const [seq, fence, place] of allCells<HeldCells>(rows)) {
    const [first, ...others] = (wanted.get(seq) ?? []).filter(
      (index) => leases[index]?.token.fence === fence,
    );
    if (first !== undefined) held.push({ indexes: [first, ...others], seq, fence, place });
  }
  return held;
}
