import { randomUUID } from 'node:crypto';
import type { Lease, Settlement, SettleOutcome } from '@surety/core/contract';
import { describe, expect, test } from 'vitest';
import { answerSettlements, lostOutcomes, prepareSettlements, type SettleCall } from '../src/settlements.ts';

const [first, second] = [randomUUID(), randomUUID()];
const ids = Array.from({ length: 4 }, () => randomUUID());

/** Each with a token of its own, as a caller may have made it. */
function completion(id: string | undefined, overrides: Partial<Lease> & { nonce?: string } = {}): Settlement {
  const { nonce = first, ...more } = overrides;
  const lease = { id, queue: 'q', deliveries: 1, redrives: 0, token: { nonce, fence: 1 }, ...more };
  return { kind: 'complete', lease: lease as unknown as Lease, outcome: 'completed' };
}

function only(calls: readonly SettleCall[]): SettleCall {
  const [call] = calls;
  if (call === undefined || calls.length > 1) throw new Error(`${calls.length} calls`);
  return call;
}

describe('settlements', () => {
  test('are grouped by their claims, however these alternate', () => {
    const batch = ids.map((id, at) => completion(id, at % 2 === 0 ? {} : { nonce: second }));
    const call = only(prepareSettlements(batch, false));
    expect(call).toMatchObject({ groups: 2, others: 0, indexes: [0, 2, 1, 3] });
    expect(call.values).toEqual([first, 1, `${ids[0]}${ids[2]}`, second, 1, `${ids[1]}${ids[3]}`]);
  });

  test('of one lease count once, whichever objects say so; under another fence it is another lease', () => {
    const token = { nonce: first, fence: 2 };
    const batch = [completion(ids[0]), completion(ids[0]), completion(ids[0], { token })];
    const call = only(prepareSettlements(batch, false));
    expect(call).toMatchObject({ groups: 2, indexes: [0, 2] });
  });

  test('with what cannot be one of ours are not sent', () => {
    const batch = [
      completion('no-uuid'),
      completion(ids[0], { nonce: 'no-uuid' }),
      completion(ids[0], { token: { nonce: first, fence: 0.5 } }),
      completion(ids[1]),
    ];
    expect(only(prepareSettlements(batch, false)).indexes).toEqual([3]);
  });

  test('go one by one where more than a body is to be removed, and in parts where there are many', () => {
    const back = [
      completion(ids[0], { deliveries: 2 }),
      completion(ids[1], { redrives: 1 }),
      completion(ids[2]),
    ];
    expect(only(prepareSettlements(back, false))).toMatchObject({ groups: 1, others: 2, indexes: [2, 0, 1] });
    expect(only(prepareSettlements(back, true))).toMatchObject({ groups: 0, others: 3 });
    const many = Array.from({ length: 1001 }, () => completion(randomUUID()));
    expect(prepareSettlements(many, false).map(({ indexes }) => indexes.length)).toEqual([500, 500, 1]);
  });

  test('are answered at their own places; what was not sent is lost', () => {
    const batch = [
      completion('no-uuid'),
      completion(ids[0], { nonce: second }),
      completion(ids[1]),
      completion(ids[2]),
    ];
    const call = only(prepareSettlements(batch, false));
    const outcomes: SettleOutcome[] = lostOutcomes(batch);
    // The script's first place is the second item.
    answerSettlements(outcomes, call, [1]);
    expect(outcomes.map(({ status }) => status)).toEqual(['lease-lost', 'lease-lost', 'settled', 'settled']);
  });
});
