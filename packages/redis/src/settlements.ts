import {
  JOB_ID,
  type LeaseToken,
  MAX_HISTORY,
  type Settlement,
  type SettleOutcome,
} from '@surety/core/contract';
import { Places } from './claimed-jobs.ts';
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

/** What is settled of one claim, by the places of its jobs. */
class SettledClaim {
  readonly token: LeaseToken;
  /** First and last place of each row of completions. */
  readonly #rows: number[] = [];
  readonly #others = new Set<number>();
  /** In the order of the rows. */
  readonly indexes: number[] = [];

  constructor(token: LeaseToken) {
    this.token = token;
  }

  /** False: it is settled otherwise in this batch already. Twice completed is found by the store. */
  complete(place: number, index: number): boolean {
    if (this.#others.size > 0 && this.#others.has(place)) return false;
    const rows = this.#rows;
    if (rows.length > 0 && rows[rows.length - 1] === place - 1) rows[rows.length - 1] = place;
    else rows.push(place, place);
    this.indexes.push(index);
    return true;
  }

  /** False: it is settled in this batch already. */
  settle(place: number): boolean {
    for (let at = 0; at < this.#rows.length; at += 2) {
      if (place >= (this.#rows[at] as number) && place <= (this.#rows[at + 1] as number)) return false;
    }
    if (this.#others.has(place)) return false;
    this.#others.add(place);
    return true;
  }

  get rows(): string {
    return this.#rows.join(' ');
  }
}

/** One call in the making. */
class Call {
  readonly #queue: string;
  readonly #claims = new Map<LeaseToken, SettledClaim>();
  readonly #otherIndexes: number[] = [];
  readonly #otherValues: (string | number)[] = [];

  constructor(queue: string) {
    this.#queue = queue;
  }

  claim(token: LeaseToken): SettledClaim {
    const known = this.#claims.get(token);
    if (known !== undefined) return known;
    const claim = new SettledClaim(token);
    this.#claims.set(token, claim);
    return claim;
  }

  settle(index: number, settlement: Settlement): void {
    this.#otherIndexes.push(index);
    this.#otherValues.push(...valuesOf(settlement));
  }

  end(): SettleCall {
    const values: (string | number)[] = [];
    const indexes: number[] = [];
    let groups = 0;
    for (const { token, rows, indexes: own } of this.#claims.values()) {
      if (own.length === 0) continue;
      groups += 1;
      values.push(token.nonce, token.fence, rows);
      for (const index of own) indexes.push(index);
    }
    return {
      queue: this.#queue,
      indexes: [...indexes, ...this.#otherIndexes],
      groups,
      others: this.#otherIndexes.length,
      values: [...values, ...this.#otherValues],
    };
  }
}

/** Sorts settlements for the script: by queue, and completions by claim. Of two settlements of a lease the second is lost (G2.8). */
export function prepareSettlements(
  settlements: readonly Settlement[],
  keepsRecords: boolean,
): readonly SettleCall[] {
  const calls: SettleCall[] = [];
  for (let from = 0; from < settlements.length; from += MOST_A_CALL) {
    const to = Math.min(from + MOST_A_CALL, settlements.length);
    for (const call of prepareSome(settlements, from, to, keepsRecords)) calls.push(call.end());
  }
  return calls;
}

function prepareSome(
  settlements: readonly Settlement[],
  from: number,
  to: number,
  keepsRecords: boolean,
): Iterable<Call> {
  const calls = new Map<string, Call>();
  const places = new Places();
  let claim: SettledClaim | null = null;
  for (let index = from; index < to; index += 1) {
    const settlement = settlements[index] as Settlement;
    const { lease } = settlement;
    const place = places.of(lease);
    // One that was made up or copied may mean the job of another by its id.
    if (place === null) return prepareById(settlements, from, to);
    if (claim === null || claim.token !== lease.token) claim = callOf(calls, lease.queue).claim(lease.token);
    // A job that never came back has nothing but its body.
    const isPlain =
      settlement.kind === 'complete' && !keepsRecords && lease.deliveries <= 1 && lease.redrives === 0;
    if (isPlain) claim.complete(place, index);
    else if (claim.settle(place)) callOf(calls, lease.queue).settle(index, settlement);
  }
  return calls.values();
}

/** Of leases of which not all are as they were given. */
function prepareById(settlements: readonly Settlement[], from: number, to: number): Iterable<Call> {
  const calls = new Map<string, Call>();
  const seen = new Set<string>();
  for (let index = from; index < to; index += 1) {
    const settlement = settlements[index] as Settlement;
    const { id, queue, token } = settlement.lease;
    // A token that cannot be one of ours.
    if (!JOB_ID.test(id) || !JOB_ID.test(token.nonce) || !Number.isSafeInteger(token.fence)) continue;
    const lease = `${token.nonce} ${token.fence} ${id}`;
    if (seen.has(lease)) continue;
    seen.add(lease);
    callOf(calls, queue).settle(index, settlement);
  }
  return calls.values();
}

function callOf(calls: Map<string, Call>, queue: string): Call {
  const known = calls.get(queue);
  if (known !== undefined) return known;
  const call = new Call(queue);
  calls.set(queue, call);
  return call;
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
