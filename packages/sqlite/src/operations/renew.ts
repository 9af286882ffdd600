import type { CallOptions, Lease, RenewOutcome } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import type { SqliteCapabilities } from '../capabilities.ts';
import type { Connection } from '../connection.ts';
import { findHeld, type HeldClaim } from '../held-leases.ts';
import { ADAPTER } from '../native-errors.ts';
import type { WriteTransaction } from '../transaction.ts';

const LOST: RenewOutcome = Object.freeze({ status: 'lease-lost' });

/** Extends leases to `leaseMs` from the store's now on (G2.3). */
export async function renew(
  connection: Connection,
  capabilities: SqliteCapabilities,
  leases: readonly Lease[],
  leaseMs: number,
  { timeoutMs }: CallOptions,
): Promise<readonly RenewOutcome[]> {
  if (leases.length === 0) return [];
  const { minMs, maxMs } = capabilities.lease;
  if (!(leaseMs >= minMs && leaseMs <= maxMs)) {
    const what = `A lease has ${minMs} to ${maxMs} ms, not ${leaseMs}.`;
    throw new SuretyError('LIMIT_EXCEEDED', what, { adapter: ADAPTER, operation: 'renew' });
  }
  const outcomes = await connection.write('renew', timeoutMs, (tx) => extend(tx, leases, leaseMs));
  connection.noteRenewal();
  return outcomes;
}

function extend(tx: WriteTransaction, leases: readonly Lease[], leaseMs: number): RenewOutcome[] {
  const outcomes: RenewOutcome[] = leases.map(() => LOST);
  for (const claim of findHeld(tx, leases)) {
    extendClaim(tx, claim, tx.now + leaseMs);
    for (const { indexes } of claim.leases)
      for (const index of indexes) outcomes[index] = { status: 'renewed', leaseMs };
  }
  return outcomes;
}

/** A part of a claim gets a claim row of its own, under the same nonce: its neighbours keep their end. */
function extendClaim({ st }: WriteTransaction, claim: HeldClaim, until: number): void {
  const count = claim.leases.length;
  if (count === claim.held) {
    st.renewClaim.run(until, claim.id);
    return;
  }
  const part = st.addClaim.run(claim.nonce, claim.queue, until, count).lastInsertRowid;
  st.splitHeld.run(part, claim.id, JSON.stringify(claim.leases.map(({ seq }) => seq)));
  st.shrinkClaim.run(count, claim.id);
}
