/** Numbers that look random and are the same for the same seed (mulberry32). */
export interface Chance {
  /** From 0 to 1. */
  next(): number;
  /** A whole number, both ends included. */
  whole(min: number, max: number): number;
  /** True so often. */
  of(share: number): boolean;
  pick<T>(items: readonly T[]): T;
  uuid(): string;
}

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => Math.floor(next() * 16).toString(16)).join('');
  return {
    next,
    whole: (min, max) => min + Math.floor(next() * (max - min + 1)),
    of: (share) => next() < share,
    pick: (items) => items[Math.floor(next() * items.length)] as never,
    uuid: () => `${hex(8)}-${hex(4)}-7${hex(3)}-8${hex(3)}-${hex(12)}`,
  };
}
