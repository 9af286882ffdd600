/** The smallest of the values that `percent` per cent of them do not exceed. Throws on an empty list. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
  if (value === undefined) throw new Error('there is no percentile of nothing');
  return value;
}
