import type { Lease } from '@surety/core/contract';
import { describe, expect, test } from 'vitest';
import { createHeldClaims } from '../src/held-claims.ts';

const lease = (nonce: string, fence: number): Lease => ({ token: { nonce, fence } }) as Lease;

describe('claims of this process', () => {
  test('a claim ends with the batch that holds all that is open of it', () => {
    const held = createHeldClaims();
    held.took('a', [lease('a', 1), lease('a', 2), lease('a', 3)]);
    expect(
      held.endedBy([
        { nonce: 'a', fence: 1 },
        { nonce: 'a', fence: 2 },
      ]),
    ).toEqual([]);
    held.answered('a', 1);
    expect(
      held.endedBy([
        { nonce: 'a', fence: 2 },
        { nonce: 'a', fence: 3 },
      ]),
    ).toEqual(['a']);
    expect(held.drainEnded()).toEqual([]);
  });

  test('a claim that ended across batches is told once', () => {
    const held = createHeldClaims();
    held.took('a', [lease('a', 1), lease('a', 2)]);
    held.answered('a', 1);
    held.answered('a', 1);
    expect(held.drainEnded()).toEqual([]);
    held.answered('a', 2);
    expect(held.drainEnded()).toEqual(['a']);
    expect(held.drainEnded()).toEqual([]);
  });

  test('what never ends is forgotten, oldest first', () => {
    const held = createHeldClaims();
    for (let n = 0; n <= 1000; n++) held.took(`${n}`, [lease(`${n}`, n)]);
    expect(held.endedBy([{ nonce: '0', fence: 0 }])).toEqual([]);
    expect(held.endedBy([{ nonce: '1', fence: 1 }])).toEqual(['1']);
  });
});
