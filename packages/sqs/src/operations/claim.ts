import type { Claim, ClaimRequest, Lease } from '@surety/core/contract';
import { type Call, closedError, failure, startCall } from '../call.ts';
import { leaseOf, type Taken, visibilityFor } from '../claims/held.ts';
import { giveBack } from '../claims/returns.ts';
import { type Context, sessionOf } from '../context.ts';
import { fromNative } from '../native-errors.ts';
import type { Session } from '../session.ts';
import { assertLeaseMs } from './assert-lease.ts';

/** Leases what is ready; with `waitMs` waits for a first job. */
export async function claim(context: Context, request: ClaimRequest): Promise<Claim> {
  const session = sessionOf(context, 'claim');
  assertLeaseMs(context, request.leaseMs, 'claim');
  const { maxItems } = context.capabilities.batch;
  if (!(request.max >= 1 && request.max <= maxItems)) {
    throw failure('LIMIT_EXCEEDED', `A claim of ${request.max} jobs is outside 1 to ${maxItems}.`, 'claim');
  }
  if (request.signal?.aborted === true) return nothing(false);
  session.held.sweep(performance.now());
  try {
    const claimed = await attempt(session, request, startCall('claim', request));
    context.lastClaimAt = performance.now();
    return claimed;
  } catch (native) {
    if (session.isClosed) throw closedError('claim');
    throw fromNative(native, 'claim', 'ReceiveMessage');
  }
}

async function attempt(session: Session, request: ClaimRequest, call: Call): Promise<Claim> {
  const { queue, max, waitMs, signal, leaseMs } = request;
  const until = performance.now() + waitMs;
  const urls = await session.topology.of(queue, call);
  if (await session.pauses.isPaused(queue, urls, call)) {
    // Due times go on: delayed jobs are brought nearer in a paused queue too.
    session.lane(queue);
    return nothing(true);
  }
  if (signal?.aborted === true) return nothing(false);
  const lane = session.lane(queue);
  const hiddenS = visibilityFor(leaseMs);
  const { taken, paused } =
    waitMs > 0
      ? await lane.wait(max, hiddenS, Math.max(1, until - performance.now()), signal, call)
      : { taken: await lane.take(max, hiddenS, call), paused: false };
  if (paused) return nothing(true);
  if (taken.length === 0) return nothing(false);
  if (session.isClosed) throw closedError('claim');
  // It may have been paused while this claim waited.
  const late: Call = { operation: 'claim', deadline: performance.now() + request.timeoutMs };
  const known = session.pauses.known(queue);
  if (known ?? (await session.pauses.isPaused(queue, urls, late).catch(() => true))) {
    await giveBack(session, taken);
    return nothing(true);
  }
  return lease(session, taken, request);
}

function lease(session: Session, taken: readonly Taken[], { nonce, leaseMs }: ClaimRequest): Claim {
  const now = performance.now();
  const live = taken.filter(({ hiddenUntil }) => hiddenUntil > now);
  const leases: Lease[] = [];
  // One length for all of them, so it counts from the one that was taken first.
  const leasedAt = live.reduce((first, { hiddenUntil }) => Math.min(first, hiddenUntil - leaseMs), now);
  for (const each of live) {
    const { held, lease: made } = leaseOf(each, nonce, leasedAt + leaseMs);
    session.held.add(held);
    leases.push(made);
  }
  return { leases, paused: false, leasedAt };
}

function nothing(paused: boolean): Claim {
  return { leases: [], paused, leasedAt: performance.now() };
}
