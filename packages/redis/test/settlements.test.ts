import { randomUUID } from 'node:crypto';
import type { Lease, LeaseToken, Settlement, SettleOutcome } from '@surety/core/contract';
import { describe, expect, test } from 'vitest';
import { rememberJobs } from '../src/claimed-jobs.ts';
import { answerSettlements, lostOutcomes, prepareSettlements, type SettleCall } from '../src/settlements.ts';
import { ERROR } from './store.ts';

const ids = Array.from({ length: 4 }, () => randomUUID());
const [first, second] = [tokenOf(ids), tokenOf(ids)];

function tokenOf(jobs: readonly string[]): LeaseToken {
  const token: LeaseToken = { nonce: randomUUID(), fence: 1 };
  rememberJobs(token, 'q', jobs.join(''));
  return token;
}

/** Of a lease as the claim gave it, but for what is said. */
function completion(place: number, token: LeaseToken = first, overrides: Partial<Lease> = {}): Settlement {
  const lease = { id: ids[place - 1], place, queue: 'q', deliveries: 1, redrives: 0, token, ...overrides };
  return { kind: 'complete', lease: lease as unknown as Lease, outcome: 'completed' };
}

/** Of a lease that somebody wrote down and made again. */
function copied(settlement: Settlement): Settlement {
  const { nonce, fence } = settlement.lease.token;
  return { ...settlement, lease: { ...settlement.lease, token: { nonce, fence } } };
}

function burial(settlement: Settlement): Settlement {
  return { kind: 'bury', lease: settlement.lease, error: ERROR };
}

function only(calls: readonly SettleCall[]): SettleCall {
  const [call] = calls;
  if (call === undefined || calls.length > 1) throw new Error(`${calls.length} calls`);
  return call;
}

describe('settlements', () => {
  test('are grouped by their claims, however these alternate, as rows of places', () => {
    const batch = [3, 1, 4, 2].map((place, at) => completion(place, at % 2 === 0 ? first : second));
    const call = only(prepareSettlements(batch, false));
    expect(call).toMatchObject({ groups: 2, others: 0, indexes: [0, 2, 1, 3] });
    expect(call.values).toEqual([first.nonce, 1, '3 4', second.nonce, 1, '1 2']);
    const apart = [1, 2, 4, 3].map((place) => completion(place));
    expect(only(prepareSettlements(apart, false)).values).toEqual([first.nonce, 1, '1 2 4 4 3 3']);
  });

  test('of one lease count once, the first of them', () => {
    const ends = [1, 2, 3].map((place) => completion(place));
    const [one, two, three] = ends as [Settlement, Settlement, Settlement];
    const batch = [one, burial(two), two, three, burial(three), burial(two)];
    const call = only(prepareSettlements(batch, false));
    expect(call).toMatchObject({ groups: 1, others: 1, indexes: [0, 3, 1] });
    // What is completed twice is found by the store, which keeps their order.
    expect(only(prepareSettlements([one, one], false)).values).toEqual([first.nonce, 1, '1 1 1 1']);
    const copies = [copied(one), one, copied(burial(two)), two];
    expect(only(prepareSettlements(copies, false))).toMatchObject({ groups: 0, others: 2, indexes: [0, 2] });
  });

  test.each([
    ['a copy of the token', copied(completion(1))],
    ['the id of a neighbour', completion(1, first, { id: ids[1] as string })],
    ['the beginning of its id', completion(1, first, { id: ids[0]?.slice(0, 30) as string })],
    ['another queue', completion(1, first, { queue: 'other' })],
    ['a place that the claim has not', completion(5, first, { id: ids[0] as string })],
    ['no place', completion(1, first, { place: undefined } as object)],
  ])('of a lease with %s go by its id', (_, settlement) => {
    const calls = prepareSettlements([settlement, completion(2)], false);
    expect(calls.reduce((sum, { groups }) => sum + groups, 0)).toBe(0);
    const values = calls.flatMap((call) => call.values);
    expect(values.includes(settlement.lease.id)).toBe(settlement.lease.id.length === 36);
    expect(values).toContain(ids[1]);
  });

  test('with what cannot be one of ours are not sent', () => {
    const batch = [
      completion(1, first, { id: 'no-uuid' }),
      completion(1, { nonce: 'no-uuid', fence: 1 }),
      completion(1, { nonce: first.nonce, fence: 0.5 }),
      completion(2),
    ];
    expect(only(prepareSettlements(batch, false)).indexes).toEqual([3]);
  });

  test('go one by one where more than a body is to be removed, and in parts where there are many', () => {
    const back = [
      completion(1, first, { deliveries: 2 }),
      completion(2, first, { redrives: 1 }),
      completion(3),
    ];
    expect(only(prepareSettlements(back, false))).toMatchObject({ groups: 1, others: 2, indexes: [2, 0, 1] });
    expect(only(prepareSettlements(back, true))).toMatchObject({ groups: 0, others: 3 });
    const jobs = Array.from({ length: 1001 }, () => randomUUID());
    const token = tokenOf(jobs);
    const many = jobs.map((id, at) => completion(at + 1, token, { id }));
    expect(prepareSettlements(many, false).map(({ indexes }) => indexes.length)).toEqual([500, 500, 1]);
  });

  test('are answered at their own places; what was not sent is lost', () => {
    const batch = [burial(completion(2)), completion(2), completion(1, second), completion(3)];
    const call = only(prepareSettlements(batch, false));
    const outcomes: SettleOutcome[] = lostOutcomes(batch);
    // The script has the completions first, by their claims, and those of the first claim before.
    expect(call.indexes).toEqual([3, 2, 0]);
    answerSettlements(outcomes, call, [2]);
    expect(outcomes.map(({ status }) => status)).toEqual(['settled', 'lease-lost', 'lease-lost', 'settled']);
  });
});
