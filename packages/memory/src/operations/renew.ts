import type { CallOptions, Lease, RenewOutcome } from '@surety/core/contract';
import { assertLeaseMs } from '../store/assert-limits.ts';
import type { Context } from '../store/context.ts';
import { findHeld } from '../store/find-held.ts';

/** Sets the ends of leases to `leaseMs` from now. */
export async function renew(
  context: Context,
  leases: readonly Lease[],
  leaseMs: number,
  options: CallOptions,
): Promise<readonly RenewOutcome[]> {
  if (leases.length === 0) return [];
  const { connection, store } = context;
  assertLeaseMs(context, leaseMs, 'renew');
  const act = (): RenewOutcome[] => {
    const now = store.clock.now();
    const outcomes = leases.map((lease): RenewOutcome => {
      const queue = store.queue(lease.queue);
      const copy = findHeld(queue, lease, now);
      if (copy === null) return { status: 'lease-lost' };
      queue.renew(copy, now + leaseMs, store.after(leaseMs));
      return { status: 'renewed', leaseMs };
    });
    // A shorter lease than before may be the next thing that waiting claims wait for.
    for (const name of new Set(leases.map((lease) => lease.queue))) store.touched(store.queue(name));
    return outcomes;
  };
  const outcomes = await connection.call('renew', options.timeoutMs, act);
  connection.lastRenewOk = performance.now();
  return outcomes;
}
