import type { CallOptions, Settlement, SettleOutcome } from '@surety/core/contract';
import type { SuretyError } from '@surety/core/errors';
import { type Call, failure, startCall } from '../call.ts';
import { RESERVE_MS } from '../capabilities.ts';
import type { Held } from '../claims/held.ts';
import { type Context, sessionOf } from '../context.ts';
import { send, type Target } from '../copies.ts';
import { charged, type Envelope, released } from '../envelope.ts';
import type { Session } from '../session.ts';
import { isGone } from './renew.ts';

const SETTLED: SettleOutcome = Object.freeze({ status: 'settled' });
const LOST: SettleOutcome = Object.freeze({ status: 'lease-lost' });

/**
 * Ends leases. A completion is a delete; everything else is a copy that is stored before the original is deleted: a fault in between leaves two, never none.
 * Nothing is begun after the end of a lease, because the service may obey a late delete.
 */
export async function settle(
  context: Context,
  settlements: readonly Settlement[],
  options: CallOptions,
): Promise<readonly SettleOutcome[]> {
  const session = sessionOf(context, 'settle');
  const call = startCall('settle', options);
  return Promise.all(
    settlements.map(async (settlement) => {
      const held = session.held.live(settlement.lease);
      if (held === null) return LOST;
      // The second settlement of a lease in this batch finds it taken (G2.8).
      held.state = 'settling';
      return settleOne(session, held, settlement, call);
    }),
  );
}

async function settleOne(
  session: Session,
  held: Held,
  settlement: Settlement,
  call: Call,
): Promise<SettleOutcome> {
  if (settlement.kind !== 'complete' && !held.isCopied) {
    const { envelope, target } = placed(held.envelope, settlement, session.clock.likely());
    const job = { envelope, payload: held.payload };
    const sent = await send(session, held.urls, job, target, call);
    if (sent.status !== 'done') {
      if (sent.error.code === 'SCHEMA_MISSING') session.topology.forget(held.queue);
      // The original is untouched: the lease goes on, and may be settled again or end by itself.
      session.held.resume(held);
      return { status: 'unknown', error: lostAnswer(settlement, sent.error) };
    }
    held.isCopied = true;
  }
  return remove(session, held, settlement, call);
}

async function remove(
  session: Session,
  held: Held,
  settlement: Settlement,
  call: Call,
): Promise<SettleOutcome> {
  // Beyond this the message may be somebody else's.
  const deadline = Math.min(call.deadline, held.endsAt + RESERVE_MS / 2);
  const result = await session.deleter.add(
    held.urls.ready,
    { ReceiptHandle: held.handle },
    { operation: 'settle', deadline },
  );
  if (result.status === 'done') {
    session.held.end(held);
    return SETTLED;
  }
  if (result.status === 'refused' && isGone(result.native)) {
    session.held.end(held);
    // Its copy is stored all the same. Deleted before, or somebody else's by now: then there are two.
    return held.isCopied ? { status: 'unknown', error: lostAnswer(settlement, result.error) } : LOST;
  }
  session.held.resume(held);
  return { status: 'unknown', error: lostAnswer(settlement, result.error) };
}

/** The envelope of the copy, and where it goes. */
function placed(
  envelope: Envelope,
  settlement: Exclude<Settlement, { readonly kind: 'complete' }>,
  now: number,
): { readonly envelope: Envelope; readonly target: Target } {
  switch (settlement.kind) {
    case 'retry':
      return {
        envelope: charged(envelope, settlement.error, now),
        target: { to: 'later', delayMs: settlement.delayMs },
      };
    case 'release':
      return {
        envelope: released(envelope, settlement.reason, now),
        target: { to: 'later', delayMs: settlement.delayMs },
      };
    case 'bury':
      return {
        envelope: { ...charged(envelope, settlement.error, now), isDead: true },
        target: { to: 'dead' },
      };
  }
}

function lostAnswer({ lease }: Settlement, cause: SuretyError): SuretyError {
  return failure('OUTCOME_UNKNOWN', 'The answer to a settlement was lost.', 'settle', {
    jobId: lease.id,
    cause,
    remedy: 'Settle again, or let the lease end.',
  });
}
