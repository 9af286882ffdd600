import type { CallOptions, Lease, RenewOutcome } from '@surety/core/contract';
import { startCall } from '../call.ts';
import { CONSUMER_TIMEOUT_MARGIN_MS } from '../capabilities.ts';
import type { Held } from '../claims/held.ts';
import { type Context, sessionOf } from '../context.ts';
import { fromNative } from '../native-errors.ts';
import { assertLeaseMs } from './assert-lease.ts';

/** Sets the ends of leases, once the broker has answered over the channel that holds them. */
export async function renew(
  context: Context,
  leases: readonly Lease[],
  leaseMs: number,
  options: CallOptions,
): Promise<readonly RenewOutcome[]> {
  const session = sessionOf(context, 'renew');
  if (leases.length === 0) return [];
  assertLeaseMs(context, leaseMs, 'renew');
  const call = startCall('renew', options);
  const sentAt = performance.now();
  const found = leases.map((lease) => session.held.live(lease));
  const lanes = new Set(found.flatMap((held) => held?.lane ?? []));
  try {
    await Promise.all([...lanes].map((lane) => lane.barrier(call)));
  } catch (native) {
    // A channel that has ended has given its jobs back: that is an answer for each of them.
    if ([...lanes].every((lane) => lane.isOpen)) throw fromNative(native, 'renew');
  }
  context.lastRenewAt = performance.now();
  return leases.map((lease, index): RenewOutcome => {
    const held = found[index];
    // Asked again: it may have been settled or have ended while the answer was on its way.
    if (held === null || held === undefined || session.held.live(lease) !== held)
      return { status: 'lease-lost' };
    const endsAt = Math.min(sentAt + leaseMs, longest(held, context.options.consumerTimeoutMs));
    return endsAt <= performance.now() ? { status: 'lease-lost' } : session.held.renew(held, endsAt);
  });
}

/** The broker takes a job away that was held for too long, however often it was renewed. */
function longest({ takenAt }: Held, consumerTimeoutMs: number): number {
  return takenAt + consumerTimeoutMs - CONSUMER_TIMEOUT_MARGIN_MS;
}
