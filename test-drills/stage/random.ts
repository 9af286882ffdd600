/** A seeded source, so that a run can be repeated. Not for secrets. */
export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number;
  pick<T>(items: readonly T[]): T;
}

/** Xorshift, 32 bits of state: enough to vary a drill. */
export function seededRandom(seed: number): Random {
  let state = seed | 0 || 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4_294_967_296;
  };
  const int = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return { next, int, pick: (items) => items[int(0, items.length - 1)] as never };
}
