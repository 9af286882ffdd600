import { describe, expect, test } from 'vitest';
import { HeldLeases, leaseOf, type Taken } from '../src/claims/held.ts';
import type { Envelope } from '../src/envelope.ts';
import type { QueueUrls } from '../src/topology.ts';

const ENVELOPE = { expiresInMs: null, enqueuedAt: null, unknownTypeSince: null, dueAt: 0 };

function takenAs(id: string, hiddenUntil: number): Taken {
  return {
    queue: 'q',
    urls: {} as QueueUrls,
    handle: id,
    copy: id,
    envelope: { ...ENVELOPE, id } as Envelope,
    payload: 'null',
    takenAtThere: 0,
    askedAt: 0,
    hiddenS: 60,
    hiddenUntil,
  };
}

function heldFor(ids: readonly string[], endsAt: number) {
  return ids.map((id) => leaseOf(takenAs(id, endsAt), 'n', endsAt));
}

describe('held leases', () => {
  test('end in any order, each once, and leave the others alive', () => {
    const all = new HeldLeases();
    const claimed = heldFor(['a', 'b', 'c', 'd'], performance.now() + 60_000);
    const alive = (): (string | undefined)[] => claimed.map(({ lease }) => all.live(lease)?.copy);
    for (const { held } of claimed) all.add(held);
    const [first, second, , last] = claimed.map(({ held }) => held);
    if (!first || !second || !last) throw new Error('four were held');
    all.end(first);
    all.end(first);
    expect(alive()).toEqual([undefined, 'b', 'c', 'd']);
    all.end(last);
    all.end(second);
    expect(alive()).toEqual([undefined, undefined, 'c', undefined]);
    all.clear();
    expect(alive()).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('that ended and are visible again are all forgotten', () => {
    const all = new HeldLeases();
    const now = performance.now();
    for (const { held } of [...heldFor(['a', 'b', 'c'], now - 60_000), ...heldFor(['d'], now + 60_000)])
      all.add(held);
    expect(all.endedButHidden('q')).toBe(0);
    expect(all.holds('q')).toBe(true);
  });
});
