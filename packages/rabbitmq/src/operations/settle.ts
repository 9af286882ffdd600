import type { CallOptions, Settlement, SettleOutcome } from '@surety/core/contract';
import type { SuretyError } from '@surety/core/errors';
import { type Call, failure, startCall } from '../call.ts';
import { NOT_SENT } from '../claims/acknowledgements.ts';
import type { Held } from '../claims/held.ts';
import type { Lane } from '../claims/lane.ts';
import { type Context, sessionOf } from '../context.ts';
import { charged, type Envelope, released } from '../envelope.ts';
import { payloadIn } from '../message-body.ts';
import type { Target } from '../moves.ts';
import { fromNative } from '../native-errors.ts';
import type { Session } from '../session.ts';

interface Item {
  readonly index: number;
  readonly held: Held;
  readonly settlement: Settlement;
}

const SETTLED: SettleOutcome = Object.freeze({ status: 'settled' });
const LOST: SettleOutcome = Object.freeze({ status: 'lease-lost' });

/**
 * Ends leases. A completion is an acknowledgement; everything else is a copy that is confirmed before the original is acknowledged: a fault in between
 * leaves two, never none.
 */
export async function settle(
  context: Context,
  settlements: readonly Settlement[],
  options: CallOptions,
): Promise<readonly SettleOutcome[]> {
  return settleAll(context, settlements, startCall('settle', options));
}

/** The work of a settle, also in the one call that claims too. */
export async function settleAll(
  context: Context,
  settlements: readonly Settlement[],
  call: Call,
): Promise<readonly SettleOutcome[]> {
  const session = sessionOf(context, call.operation);
  const outcomes: SettleOutcome[] = settlements.map(() => LOST);
  const completed: Item[] = [];
  const moved: Item[] = [];
  const now = performance.now();
  for (const [index, settlement] of settlements.entries()) {
    const held = session.held.live(settlement.lease, now);
    if (held === null) continue;
    // The second settlement of a lease in this batch finds it taken (G2.8).
    held.state = 'settling';
    (settlement.kind === 'complete' ? completed : moved).push({ index, held, settlement });
  }
  await Promise.all([acknowledge(session, completed, outcomes, call), move(session, moved, outcomes, call)]);
  return outcomes;
}

async function move(
  session: Session,
  items: readonly Item[],
  outcomes: SettleOutcome[],
  call: Call,
): Promise<void> {
  if (items.length === 0) return;
  const now = Date.now();
  const published = await session.moves.copy(
    items.map(({ held, settlement }) => ({
      queue: held.queue,
      payload: payloadIn({ content: held.body }),
      ...placed(held.envelope, settlement, now),
    })),
    call,
  );
  const copied: Item[] = [];
  for (const [place, item] of items.entries()) {
    const result = published[place];
    if (result?.status === 'stored') {
      copied.push(item);
      continue;
    }
    // The original is untouched: the lease goes on, and may be settled again or end by itself.
    session.held.resume(item.held);
    outcomes[item.index] = { status: 'unknown', error: result?.error ?? lostAnswer(item, null) };
  }
  await acknowledge(session, copied, outcomes, call);
}

/** The envelope of the copy, and where it goes. */
function placed(
  envelope: Envelope,
  settlement: Settlement,
  now: number,
): { envelope: Envelope; target: Target } {
  switch (settlement.kind) {
    case 'retry': {
      const { delayMs, error } = settlement;
      return { envelope: charged(envelope, error, now + Math.max(0, delayMs), now), target: after(delayMs) };
    }
    case 'release': {
      const { delayMs, reason } = settlement;
      return {
        envelope: released(envelope, reason, now + Math.max(0, delayMs), now),
        target: after(delayMs),
      };
    }
    case 'bury':
      return {
        envelope: { ...charged(envelope, settlement.error, now, now), deadAt: now },
        target: { to: 'dead' },
      };
    case 'complete':
      throw failure('INTERNAL', 'A completion is no move.', 'settle');
  }
}

function after(delayMs: number): Target {
  return delayMs > 0 ? { to: 'later', delayMs } : { to: 'ready' };
}

/** One frame for what can be grouped, then one question per channel, whose answer says that all before it arrived. */
async function acknowledge(
  session: Session,
  items: readonly Item[],
  outcomes: SettleOutcome[],
  call: Call,
): Promise<void> {
  const byLane = new Map<Lane, Item[]>();
  for (const item of items) {
    const own = byLane.get(item.held.lane);
    if (own === undefined) byLane.set(item.held.lane, [item]);
    else own.push(item);
  }
  await Promise.all([...byLane].map(([lane, own]) => acknowledgeOn(session, lane, own, outcomes, call)));
}

async function acknowledgeOn(
  session: Session,
  lane: Lane,
  items: readonly Item[],
  outcomes: SettleOutcome[],
  call: Call,
): Promise<void> {
  const end = (outcome: (item: Item) => SettleOutcome): void => {
    for (const item of items) {
      session.held.end(item.held);
      outcomes[item.index] = outcome(item);
    }
  };
  try {
    const arrived = await lane.acknowledge(
      items.map(({ held }) => held.tag),
      call,
    );
    if (arrived !== NOT_SENT) return end(() => SETTLED);
    // The job is back in its queue. Where it was copied before, it is there twice now.
    end((item) =>
      item.settlement.kind === 'complete' ? LOST : { status: 'unknown', error: lostAnswer(item, null) },
    );
  } catch (native) {
    end((item) => ({ status: 'unknown', error: lostAnswer(item, native) }));
  }
}

function lostAnswer({ settlement }: Item, cause: unknown): SuretyError {
  const native = cause === null ? null : fromNative(cause, 'settle');
  return failure('OUTCOME_UNKNOWN', 'The answer to a settlement was lost.', 'settle', {
    jobId: settlement.lease.id,
    cause: native,
    remedy: 'Settle again, or let the lease end.',
  });
}
