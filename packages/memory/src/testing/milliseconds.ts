const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const WRITTEN = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** Reads `'1h'`, `'30s'`, or ms. Throws a RangeError for anything else. */
export function milliseconds(duration: number | string): number {
  if (typeof duration === 'number') return duration;
  const [, amount, unit] = WRITTEN.exec(duration) ?? [];
  const factor = unit === undefined ? undefined : UNITS[unit];
  if (amount === undefined || factor === undefined) {
    throw new RangeError(`'${duration}' is not a duration: write '250ms', '30s', '5m', '24h' or '7d'.`);
  }
  return Number(amount) * factor;
}
