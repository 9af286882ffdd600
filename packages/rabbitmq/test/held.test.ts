import { describe, expect, test } from 'vitest';
import { type Held, HeldLeases, leaseOf } from '../src/claims/held.ts';
import type { Lane } from '../src/claims/lane.ts';
import type { Envelope } from '../src/envelope.ts';

function heldOf(tag: number, endsAt: number): Held {
  return {
    lane: { isOpen: true } as Lane,
    tag,
    copy: String(tag),
    queue: 'q',
    token: { nonce: 'n', fence: 0 },
    envelope: { id: String(tag) } as Envelope,
    body: Buffer.alloc(0),
    takenAt: 0,
    endsAt,
    state: 'leased',
    place: -1,
  };
}

describe('held leases', () => {
  test('end in any order, each once, and leave the others alive', () => {
    const all = new HeldLeases(() => undefined);
    const held = [1, 2, 3, 4].map((tag) => heldOf(tag, performance.now() + 60_000));
    const leases = held.map((each) => leaseOf(each, { value: null }, 0));
    const alive = (): (number | undefined)[] => leases.map((lease) => all.live(lease)?.tag);
    for (const each of held) all.add(each);
    const [first, second, , last] = held as [Held, Held, Held, Held];
    all.end(first);
    all.end(first);
    expect(alive()).toEqual([undefined, 2, 3, 4]);
    all.end(last);
    all.end(second);
    expect(alive()).toEqual([undefined, undefined, 3, undefined]);
    expect(all.holds('q')).toBe(true);
    all.stop();
    expect(alive()).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('are told of when their time is over, all of them', async () => {
    const expired: number[] = [];
    const done = Promise.withResolvers<void>();
    const all = new HeldLeases(({ tag }) => {
      expired.push(tag);
      if (expired.length === 3) done.resolve();
    });
    const endsAt = performance.now() + 20;
    for (const tag of [1, 2, 3]) all.add(heldOf(tag, endsAt));
    all.add(heldOf(4, endsAt + 60_000));
    await done.promise;
    expect(new Set(expired)).toEqual(new Set([1, 2, 3]));
    expect(all.holds('q')).toBe(true);
    all.stop();
  });
});
