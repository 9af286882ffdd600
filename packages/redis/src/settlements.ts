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

/** Settlements of one claim that are completions and nothing else. */
interface Group {
  readonly ids: string[];
  readonly indexes: number[];
}

/** One call in the making. */
class Call {
  readonly #queue: string;
  readonly #groups = new Map<SettledClaim, Group>();
  readonly #otherIndexes: number[] = [];
  readonly #otherValues: (string | number)[] = [];
  size = 0;

  constructor(queue: string) {
    this.#queue = queue;
  }

  complete(index: number, id: string, claim: SettledClaim): void {
    this.size += 1;
    const known = this.#groups.get(claim);
    const group = known ?? { ids: [], indexes: [] };
    if (known === undefined) this.#groups.set(claim, group);
    group.ids.push(id);
    group.indexes.push(index);
  }

  settle(index: number, settlement: Settlement): void {
    this.size += 1;
    this.#otherIndexes.push(index);
    this.#otherValues.push(...valuesOf(settlement));
  }

  end(): SettleCall {
    const values: (string | number)[] = [];
    const indexes: number[] = [];
    for (const [{ nonce, fence }, group] of this.#groups) {
      // One text: an argument of its own for each id costs both sides more than all else that is done with it.
      values.push(nonce, fence, group.ids.join(''));
      for (const index of group.indexes) indexes.push(index);
    }
    return {
      queue: this.#queue,
      indexes: [...indexes, ...this.#otherIndexes],
      groups: this.#groups.size,
      others: this.#otherIndexes.length,
      values: [...values, ...this.#otherValues],
    };
  }
}

/** Sorts settlements for the script: by queue, and completions by claim. The second settlement of a lease is left out: it is lost (G2.8). */
export function prepareSettlements(
  settlements: readonly Settlement[],
  keepsRecords: boolean,
): readonly SettleCall[] {
  const calls: Call[] = [];
  const filling = new Map<string, Call>();
  const claims = new SettledClaims();
  for (let index = 0; index < settlements.length; index += 1) {
    const settlement = settlements[index] as Settlement;
    const { id, queue, token, deliveries, redrives } = settlement.lease;
    const claim = claims.of(token);
    if (claim === null || !JOB_ID.test(id) || claim.ids.has(id)) continue;
    claim.ids.add(id);
    let call = filling.get(queue);
    if (call === undefined || call.size === MOST_A_CALL) {
      call = new Call(queue);
      calls.push(call);
      filling.set(queue, call);
    }
    // A job that never came back has nothing but its body.
    if (settlement.kind === 'complete' && !keepsRecords && deliveries <= 1 && redrives === 0)
      call.complete(index, id, claim);
    else call.settle(index, settlement);
  }
  return calls.map((call) => call.end());
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
