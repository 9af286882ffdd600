import type { CallOptions, Lease, RenewOutcome } from '@surety/core/contract';
import { startCall } from '../call.ts';
import { RESERVE_MS } from '../capabilities.ts';
import { type Held, visibilityFor } from '../claims/held.ts';
import { type Context, sessionOf } from '../context.ts';
import { MAX_VISIBILITY_S } from '../service-limits.ts';
import { assertLeaseMs } from './assert-lease.ts';

/** The service counts the twelve hours from the receive and refuses what goes beyond; seconds kept free for what the two clocks differ by. */
const CEILING_MARGIN_S = 5;
const LOST: RenewOutcome = Object.freeze({ status: 'lease-lost' });

/** Hides the messages anew, in requests of ten; near the twelve hours only for what is left of them. */
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
  const outcomes = await Promise.all(
    leases.map(async (lease): Promise<RenewOutcome> => {
      const held = session.held.live(lease);
      if (held === null) return LOST;
      const sentAt = performance.now();
      const seconds = Math.min(visibilityFor(leaseMs), secondsLeft(held, sentAt));
      const givenMs = Math.min(leaseMs, seconds * 1000 - RESERVE_MS);
      if (givenMs <= 0) return endsSoon(held);
      const entry = { ReceiptHandle: held.handle, VisibilityTimeout: seconds };
      const result = await session.hider.add(held.urls.ready, entry, call);
      // Asked again: it may have been settled or have ended while the answer was on its way.
      const isMine = session.held.live(lease) === held;
      if (result.status === 'done')
        return isMine
          ? session.held.renew(held, sentAt + givenMs, sentAt + seconds * 1000 - RESERVE_MS)
          : LOST;
      if (result.status === 'refused' && isGone(result.native)) {
        if (isMine) session.held.end(held);
        return LOST;
      }
      // It may have been done: then it ends at whatever comes first.
      if (isMine && result.status === 'unknown') held.endsAt = Math.min(held.endsAt, sentAt + givenMs);
      throw result.error;
    }),
  );
  context.lastRenewAt = performance.now();
  return outcomes;
}

/** Nothing more can be given; what was given holds until its end. */
function endsSoon({ endsAt }: Held): RenewOutcome {
  const leaseMs = endsAt - performance.now();
  return leaseMs > 0 ? { status: 'renewed', leaseMs } : LOST;
}

function secondsLeft({ askedAt }: Held, now: number): number {
  return Math.floor(MAX_VISIBILITY_S - (now - askedAt) / 1000) - CEILING_MARGIN_S;
}

/** The message is no longer hidden for us, or is no more. */
export function isGone(native: string): boolean {
  return (
    native === 'MessageNotInflight' ||
    native === 'ReceiptHandleIsInvalid' ||
    native === 'InvalidParameterValue'
  );
}
