import {
  JOB_ID,
  type LeaseToken,
  MAX_HISTORY,
  type Settlement,
  type SettleOutcome,
} from '@surety/core/contract';
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

/** What is settled of one claim. */
interface SettledClaim {
  readonly nonce: string;
  readonly fence: number;
  readonly ids: Set<string>;
}

/** The claims of a batch. Most settlements of a batch are of the claim of the one before, whose token they share. */
class SettledClaims {
  readonly #byNonce = new Map<string, SettledClaim[]>();
  #token: LeaseToken | null = null;
  #claim: SettledClaim | null = null;

  /** Null: a token that cannot be one of ours. */
  of(token: LeaseToken): SettledClaim | null {
    if (token === this.#token) return this.#claim;
    this.#token = token;
    this.#claim = this.#find(token);
    return this.#claim;
  }

  #find({ nonce, fence }: LeaseToken): SettledClaim | null {
    const known = this.#byNonce.get(nonce) ?? [];
    const same = known.find((claim) => claim.fence === fence);
    if (same !== undefined) return same;
    if (!JOB_ID.test(nonce) || !Number.isSafeInteger(fence)) return null;
    const claim: SettledClaim = { nonce, fence, ids: new Set() };
    this.#byNonce.set(nonce, [...known, claim]);
    return claim;
  }
}

/** One settlement to be sent. */
interface Item {
  readonly index: number;
  readonly settlement: Settlement;
  readonly claim: SettledClaim;
}

/** Sorts settlements for the script: by queue, and completions by claim. The second settlement of a lease is left out: it is lost (G2.8). */
export function prepareSettlements(
  settlements: readonly Settlement[],
  keepsRecords: boolean,
): readonly SettleCall[] {
  const byQueue = new Map<string, Item[]>();
  const claims = new SettledClaims();
  for (const [index, settlement] of settlements.entries()) {
    const { id, queue, token } = settlement.lease;
    const claim = claims.of(token);
    if (claim === null || !JOB_ID.test(id) || claim.ids.has(id)) continue;
    claim.ids.add(id);
    const known = byQueue.get(queue);
    if (known === undefined) byQueue.set(queue, [{ index, settlement, claim }]);
    else known.push({ index, settlement, claim });
  }
  const calls: SettleCall[] = [];
  for (const [queue, items] of byQueue) {
    for (let at = 0; at < items.length; at += MOST_A_CALL)
      calls.push(toCall(queue, items.slice(at, at + MOST_A_CALL), keepsRecords));
  }
  return calls;
}

function toCall(queue: string, items: readonly Item[], keepsRecords: boolean): SettleCall {
  const groups = new Map<SettledClaim, Item[]>();
  const others: Item[] = [];
  for (const item of items) {
    const { settlement, claim } = item;
    const { deliveries, redrives } = settlement.lease;
    // A job that never came back has nothing but its body.
    if (settlement.kind !== 'complete' || keepsRecords || deliveries > 1 || redrives > 0) {
      others.push(item);
      continue;
    }
    const known = groups.get(claim);
    if (known === undefined) groups.set(claim, [item]);
    else known.push(item);
  }
  const values: (string | number)[] = [];
  const indexes: number[] = [];
  for (const [{ nonce, fence }, members] of groups) {
    values.push(nonce, fence, members.length);
    for (const { index, settlement } of members) {
      values.push(settlement.lease.id);
      indexes.push(index);
    }
  }
  for (const { index, settlement } of others) {
    values.push(...valuesOf(settlement));
    indexes.push(index);
  }
  return { queue, indexes, groups: groups.size, others: others.length, values };
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
  for (const index of indexes) outcomes[index] = SETTLED;
  for (const place of lost) {
    const index = indexes[place - 1];
    if (index !== undefined) outcomes[index] = LOST;
  }
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
