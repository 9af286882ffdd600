import {
  type CallOptions,
  type JobError,
  MAX_HISTORY,
  RELEASE_REASONS,
  type ReleaseReason,
  type Settlement,
  type SettleOutcome,
} from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import { ADAPTER } from '../connection.ts';
import { type Context, chance } from '../store/context.ts';
import type { Copy } from '../store/copy.ts';
import { findHeld } from '../store/find-held.ts';
import { move, type Placement } from '../store/move.ts';
import type { QueueState } from '../store/queue-state.ts';

/** Ends leases, one by one, in order. */
export async function settle(
  context: Context,
  settlements: readonly Settlement[],
  options: CallOptions,
): Promise<readonly SettleOutcome[]> {
  if (settlements.length === 0) return [];
  const unknown = (error: SuretyError): SettleOutcome[] =>
    settlements.map(() => ({ status: 'unknown', error }));
  return context.connection.call('settle', options.timeoutMs, () => settleAll(context, settlements), {
    unknown,
    refused: unknown,
  });
}

/** The work of a settle, without the way to the store. */
export function settleAll(context: Context, settlements: readonly Settlement[]): SettleOutcome[] {
  const touched = new Set<QueueState>();
  const named = new Set<Copy>();
  const outcomes = settlements.map((settlement): SettleOutcome => {
    const queue = context.store.queue(settlement.lease.queue);
    const copy = findHeld(queue, settlement.lease, context.store.clock.now());
    // The first settlement of a lease counts, also when its own answer was lost.
    if (copy === null || named.has(copy)) return { status: 'lease-lost' };
    named.add(copy);
    if (settlement.kind !== 'complete') touched.add(queue);
    return settleOne(context, queue, copy, settlement);
  });
  for (const queue of touched) context.store.touched(queue);
  return outcomes;
}

function settleOne(context: Context, queue: QueueState, copy: Copy, settlement: Settlement): SettleOutcome {
  const hidden = drawUnknown(context, queue, copy);
  if (hidden !== null && !hidden.acted) return lost(copy);
  const whole = apply(context, queue, copy, settlement);
  return whole && hidden === null ? { status: 'settled' } : lost(copy);
}

/** False: the move stopped half-way. */
function apply(context: Context, queue: QueueState, copy: Copy, settlement: Settlement): boolean {
  const leave = (held: Copy): void => queue.free(held);
  switch (settlement.kind) {
    case 'complete':
      queue.free(copy);
      queue.drop(copy);
      return true;
    case 'retry':
      return move(context, queue, copy, 'retry', leave, retried(context, queue, settlement));
    case 'bury':
      return move(context, queue, copy, 'bury', leave, buried(context, queue, settlement.error));
    case 'release':
      return move(context, queue, copy, 'release', leave, released(context, queue, settlement));
  }
}

function retried(
  context: Context,
  queue: QueueState,
  settlement: { readonly delayMs: number; readonly error: JobError },
): Placement {
  return (copy) => {
    charge(context, copy, settlement.error);
    queue.await(copy, context.store.after(settlement.delayMs), context.store.clock.now());
  };
}

function buried(context: Context, queue: QueueState, error: JobError): Placement {
  return (copy) => {
    charge(context, copy, error);
    const { store } = context;
    queue.bury(copy, { at: store.clock.now(), serial: store.next(), reason: error.code });
  };
}

function released(
  context: Context,
  queue: QueueState,
  settlement: { readonly delayMs: number; readonly reason: ReleaseReason },
): Placement {
  return (copy) => {
    const { store } = context;
    const now = store.clock.now();
    const rule = RELEASE_REASONS[settlement.reason];
    copy.deliveries += 1;
    copy.interruptions += rule.interruptions;
    if (rule.marksLossBackedOff) copy.lossBackedOff = true;
    if (rule.marksUnknownType) copy.unknownTypeSince ??= now;
    else if (settlement.reason !== 'unstarted') copy.unknownTypeSince = null;
    queue.await(copy, store.after(settlement.delayMs), now);
  };
}

/** A counted end of an attempt: the history of losses is over. */
function charge(context: Context, copy: Copy, error: JobError): void {
  copy.attempt += 1;
  copy.deliveries += 1;
  copy.lostClaims = 0;
  copy.lossBackedOff = false;
  copy.unknownTypeSince = null;
  const entry = { at: new Date(context.store.clock.now()).toISOString(), error };
  const all = [...copy.history, entry];
  // The first error stays: it is the one that tells how it began.
  copy.history = all.length <= MAX_HISTORY ? all : [...all.slice(0, 1), ...all.slice(1 - MAX_HISTORY)];
}

/** Now and then the answer to a settlement is lost, whether it counted or not. */
function drawUnknown(context: Context, queue: QueueState, copy: Copy): { readonly acted: boolean } | null {
  if (!chance(context, 'unknownSettle')) return null;
  const acted = context.random() < 0.5;
  context.store.faults.note('unknown-settle', {
    queue: queue.name,
    jobId: copy.job.id,
    operation: 'settle',
    acted,
  });
  return { acted };
}

function lost(copy: Copy): SettleOutcome {
  const details = { adapter: ADAPTER, operation: 'settle', jobId: copy.job.id };
  const error = new SuretyError('OUTCOME_UNKNOWN', 'The answer to a settlement was lost.', {
    ...details,
    remedy: 'Settle again, or let the lease end.',
  });
  return { status: 'unknown', error };
}
