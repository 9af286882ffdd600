/**
 * The distance of Kolmogorov and Smirnov between values and the even distribution from 0 to 1: the most by which the share of values
 * below some point differs from that point.
 */
export function distanceFromEven(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted.reduce((most, value, index) => {
    const at = Math.min(1, Math.max(0, value));
    const below = at - index / sorted.length;
    const above = (index + 1) / sorted.length - at;
    return Math.max(most, below, above);
  }, 0);
}

/** How often values that are even may look uneven: once in a million drills. */
const FALSE_ALARM = 1e-6;

/** The distance that so many even values exceed once in 1 / FALSE_ALARM times: sqrt(-ln(alpha / 2) / 2n). */
export function mostDistance(count: number): number {
  return Math.sqrt(-Math.log(FALSE_ALARM / 2) / (2 * count));
}

/** How many values lie in each tenth. */
export function perTenth(values: readonly number[]): readonly number[] {
  const counts = Array.from({ length: 10 }, () => 0);
  for (const value of values) {
    const tenth = Math.min(9, Math.max(0, Math.floor(value * 10)));
    counts[tenth] = (counts[tenth] ?? 0) + 1;
  }
  return counts;
}
