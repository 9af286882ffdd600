/** The shortest wait of the ladder; level n waits 2^n times as long. Smaller steps cost more hops than they gain. */
export const STEP_MS = 64;
/** Enough for a year: 64 ms * 2^29 is 397 days. */
export const LEVELS = 29;

/** Where a delayed job enters the ladder. */
export interface Route {
  /** The highest level that it waits in. */
  readonly level: number;
  /** One word per level from there down: 1 waits, 0 passes by. */
  readonly key: string;
}

/** Rounded up, so that no job is early; null: ready at once. */
export function routeFor(delayMs: number): Route | null {
  if (!(delayMs > 0)) return null;
  const bits = Math.ceil(delayMs / STEP_MS).toString(2);
  return { level: bits.length - 1, key: bits.split('').join('.') };
}

/** The pattern of a binding of level `level`: what its word is, whatever came before and comes after. */
export function patternOf(level: number, word: 0 | 1): string {
  return `#.${word}${'.*'.repeat(level)}`;
}

export function waitOf(level: number): number {
  return STEP_MS * 2 ** level;
}
