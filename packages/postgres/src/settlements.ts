import { JOB_ID, MAX_HISTORY, type Settlement, type SettleOutcome } from '@surety/core/contract';
import type { Context } from './context.ts';
import { noteDue } from './queue-state.ts';
import { plainArray } from './sql.ts';

/** A batch of settlements, ready to be sent, and their outcomes once they were answered. */
export interface PreparedSettlements {
  /** In the order they were given. `lease-lost` until answered otherwise. */
  readonly outcomes: SettleOutcome[];
  /** Nothing is left to send. */
  readonly empty: boolean;
  /** The statement that carries them, with the values of a claim to be made by the same call, if there is one. */
  statement(context: Context, claimed: readonly unknown[] | null): [text: string, values: readonly unknown[]];
  /** Learns the answer: how many leases were ended, and which, where they were fewer than asked. */
  answered(context: Context, count: number, ids: readonly string[] | null): void;
}

interface Item {
  readonly index: number;
  readonly settlement: Settlement;
  readonly id: string;
  readonly fence: number;
  readonly nonce: string;
}

const SETTLED: SettleOutcome = Object.freeze({ status: 'settled' });
const LOST: SettleOutcome = Object.freeze({ status: 'lease-lost' });
const REASONS = { unstarted: 0, stop: 1, 'unknown-type': 2, 'loss-backoff': 3, snooze: 4 } as const;

/** Sorts settlements for one statement. The second settlement of a lease is lost here and now (G2.8). */
export function prepareSettlements(
  settlements: readonly Settlement[],
  keepsRecords: boolean,
): PreparedSettlements {
  const outcomes = settlements.map(() => LOST);
  const items = collect(settlements);
  const mixed = keepsRecords || items.some(({ settlement }) => settlement.kind !== 'complete');
  return {
    outcomes,
    empty: items.length === 0,
    statement(context, claimed) {
      if (items.length === 0 && claimed !== null) return [context.sql.claim, claimed];
      // Also those that ended across several statements before; the row of one that ends here goes with it.
      const ended = [...context.held.drainEnded(), ...context.held.endedBy(items)];
      const common = [...commonValues(items), plainArray(ended)];
      const { sql, channel, mayNotify, options } = context;
      if (!mixed)
        return claimed === null ? [sql.complete, common] : [sql.completeAndClaim, [...common, ...claimed]];
      const values = [
        ...common,
        ...mixedValues(items),
        options.keepCompletedMs,
        channel,
        mayNotify,
        MAX_HISTORY,
      ];
      return claimed === null ? [sql.settle, values] : [sql.settleAndClaim, [...values, ...claimed]];
    },
    answered(context, count, ids) {
      const done = count === items.length || ids === null ? null : lastLeaseOf(items, new Set(ids));
      for (const item of items) {
        if (done !== null && done.get(item.id) !== item) continue;
        outcomes[item.index] = SETTLED;
        // One that was lost stays open: its claim row has ended, and still has to give the job back.
        context.held.answered(item.nonce, item.fence);
      }
      if (mixed) noteReturns(context, items);
    },
  };
}

function collect(settlements: readonly Settlement[]): Item[] {
  const seen = new Set<number>();
  const items: Item[] = [];
  for (const [index, settlement] of settlements.entries()) {
    const { id, token } = settlement.lease;
    const { fence, nonce } = token;
    // A token that cannot be one of ours would fail its neighbours' statement.
    if (!JOB_ID.test(id) || !JOB_ID.test(nonce) || !Number.isSafeInteger(fence) || seen.has(fence)) continue;
    seen.add(fence);
    items.push({ index, settlement, id, fence, nonce });
  }
  return items.sort((a, b) => a.fence - b.fence);
}

/** The lease of each ended job that was meant: of two leases of one job in a batch, only the later can have lived. */
function lastLeaseOf(items: readonly Item[], ended: ReadonlySet<string>): ReadonlyMap<string, Item> {
  return new Map(items.filter(({ id }) => ended.has(id)).map((item) => [item.id, item]));
}

function commonValues(items: readonly Item[]): string[] {
  const nonces = new Map<string, number>();
  const places = items.map(({ nonce }) => {
    const known = nonces.get(nonce);
    if (known !== undefined) return known;
    nonces.set(nonce, nonces.size + 1);
    return nonces.size;
  });
  return [
    plainArray(items.map(({ id }) => id)),
    plainArray(items.map(({ fence }) => fence)),
    plainArray(places),
    plainArray([...nonces.keys()]),
  ];
}

function mixedValues(items: readonly Item[]): unknown[] {
  const kinds: number[] = [];
  const delays: number[] = [];
  const charges: number[] = [];
  const reasons: (number | 'NULL')[] = [];
  const errors: (string | null)[] = [];
  for (const { settlement } of items) {
    const delayMs = 'delayMs' in settlement ? Math.max(0, Math.ceil(settlement.delayMs)) : 0;
    const fails = settlement.kind === 'retry' || settlement.kind === 'bury';
    kinds.push(kindOf(settlement, delayMs));
    delays.push(delayMs);
    charges.push(fails ? 1 : 0);
    reasons.push(settlement.kind === 'release' ? REASONS[settlement.reason] : 'NULL');
    errors.push(fails ? JSON.stringify(settlement.error) : null);
  }
  return [plainArray(kinds), plainArray(delays), plainArray(charges), plainArray(reasons), errors];
}

function kindOf(settlement: Settlement, delayMs: number): number {
  if (settlement.kind === 'complete') return settlement.outcome === 'cancelled' ? -1 : -2;
  if (settlement.kind === 'bury') return 2;
  return delayMs > 0 ? 1 : 0;
}

/** A job that went back to its place may lie below the floor of its queue; one that waits is due at a known time. */
function noteReturns(context: Context, items: readonly Item[]): void {
  for (const { settlement } of items) {
    if (!('delayMs' in settlement)) continue;
    const state = context.queues.of(settlement.lease.queue);
    if (settlement.delayMs <= 0) state.floor.reset();
    else noteDue(state, settlement.delayMs);
  }
}
