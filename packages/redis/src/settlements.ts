import { JOB_ID, MAX_HISTORY, type Settlement, type SettleOutcome } from '@surety/core/contract';
import type { ResolvedOptions } from './options.ts';

/** The settlements of one call of the script. All of one queue. */
export interface SettleCall {
  readonly queue: string;
  /** Where each stands in the batch it came from, in the order of the script's places. */
  readonly indexes: readonly number[];
  readonly groups: number;
  readonly others: number;
  readonly values: readonly (string | number)[];
}

const KINDS = { completed: 0, cancelled: 1, retry: 2, bury: 3, release: 4 } as const;
const REASONS = { unstarted: 0, stop: 1, 'unknown-type': 2, 'loss-backoff': 3, snooze: 4 } as const;

const SETTLED: SettleOutcome = Object.freeze({ status: 'settled' });
const LOST: SettleOutcome = Object.freeze({ status: 'lease-lost' });

/** The most settlements of one call of the script: some milliseconds of the server's time. */
const MOST_A_CALL = 500;

export const NOTHING_TO_SETTLE: SettleCall = Object.freeze({
  queue: '',
  indexes: [],
  groups: 0,
  others: 0,
  values: [],
});

/** Sorts settlements for the script: by queue, and completions by claim. The second settlement of a lease is left out: it is lost (G2.8). */
export function prepareSettlements(
  settlements: readonly Settlement[],
  keepsRecords: boolean,
): readonly SettleCall[] {
  const byQueue = new Map<string, number[]>();
  const seen = new Set<string>();
  for (const [index, { lease }] of settlements.entries()) {
    const { id, queue, token } = lease;
    // A token that cannot be one of ours.
    if (!JOB_ID.test(id) || !JOB_ID.test(token.nonce) || !Number.isSafeInteger(token.fence)) continue;
    const name = `${id}${token.fence}${token.nonce}`;
    if (seen.has(name)) continue;
    seen.add(name);
    const known = byQueue.get(queue);
    if (known === undefined) byQueue.set(queue, [index]);
    else known.push(index);
  }
  const calls: SettleCall[] = [];
  for (const [queue, indexes] of byQueue) {
    for (let at = 0; at < indexes.length; at += MOST_A_CALL) {
      calls.push(toCall(queue, indexes.slice(at, at + MOST_A_CALL), settlements, keepsRecords));
    }
  }
  return calls;
}

function toCall(
  queue: string,
  indexes: readonly number[],
  settlements: readonly Settlement[],
  keepsRecords: boolean,
): SettleCall {
  const groups = new Map<string, number[]>();
  const others: number[] = [];
  for (const index of indexes) {
    const settlement = settlements[index] as Settlement;
    const { token, deliveries, redrives } = settlement.lease;
    // A job that never came back has nothing but its body.
    if (settlement.kind !== 'complete' || keepsRecords || deliveries > 1 || redrives > 0) {
      others.push(index);
      continue;
    }
    const claim = `${token.nonce}${token.fence}`;
    const known = groups.get(claim);
    if (known === undefined) groups.set(claim, [index]);
    else known.push(index);
  }
  const values: (string | number)[] = [];
  for (const members of groups.values()) {
    const { token } = (settlements[members[0] ?? 0] as Settlement).lease;
    values.push(token.nonce, token.fence, members.length);
    for (const index of members) values.push((settlements[index] as Settlement).lease.id);
  }
  for (const index of others) values.push(...valuesOf(settlements[index] as Settlement));
  return {
    queue,
    indexes: [...groups.values()].flat().concat(others),
    groups: groups.size,
    others: others.length,
    values,
  };
}

function valuesOf(settlement: Settlement): (string | number)[] {
  const { id, token } = settlement.lease;
  const delayMs = 'delayMs' in settlement ? Math.max(0, Math.ceil(settlement.delayMs)) : 0;
  const kind = KINDS[settlement.kind === 'complete' ? settlement.outcome : settlement.kind];
  const reason = settlement.kind === 'release' ? REASONS[settlement.reason] : 0;
  const error =
    settlement.kind === 'retry' || settlement.kind === 'bury' ? JSON.stringify(settlement.error) : '';
  return [token.nonce, token.fence, id, kind, delayMs, reason, error];
}

/** Writes what the script answered to its places in the outcomes, which begin as `lease-lost`. */
export function answerSettlements(
  outcomes: SettleOutcome[],
  { indexes }: SettleCall,
  lost: readonly number[],
): void {
  const places = new Set(lost);
  for (const [place, index] of indexes.entries()) if (!places.has(place + 1)) outcomes[index] = SETTLED;
}

/** One outcome a settlement, all lost until answered otherwise. */
export function lostOutcomes(settlements: readonly Settlement[]): SettleOutcome[] {
  return settlements.map(() => LOST);
}

/** The arguments of the script. With `most` 0 it only settles. */
export function scriptValues(
  { keepCompletedMs, keepCompletedMost }: ResolvedOptions,
  settling: SettleCall,
  most: number,
  leaseMs: number,
  nonce: string,
  apart: boolean,
): (string | number)[] {
  return [
    most,
    leaseMs,
    nonce,
    apart ? 1 : 0,
    MAX_HISTORY,
    keepCompletedMs,
    keepCompletedMost,
    settling.groups,
    settling.others,
    ...settling.values,
  ];
}
