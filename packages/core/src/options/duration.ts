import { SuretyError } from '../errors/index.ts';

/** Milliseconds, or a number with a unit: `'250ms'`, `'30s'`, `'5m'`, `'24h'`, `'7d'`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const WRITTEN = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** Parses a duration option into whole ms within [min, max]; throws OPTIONS_INVALID naming the option. */
export function durationMs(option: string, value: unknown, min: number, max: number): number {
  const ms = parse(value);
  if (ms === null || !Number.isFinite(ms)) {
    throw new SuretyError('OPTIONS_INVALID', `${option} is not a duration: ${shown(value)}.`, {
      remedy: `Give milliseconds or a text such as '250ms', '30s', '5m', '24h' or '7d'.`,
    });
  }
  if (ms < min || ms > max) {
    throw new SuretyError('OPTIONS_INVALID', `${option} is ${shown(value)}, outside ${min} to ${max} ms.`);
  }
  // Adding 0 makes one zero of the two: -0 would be written as such by some stores.
  return Math.ceil(ms) + 0;
}

function parse(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return null;
  const match = WRITTEN.exec(value);
  if (match === null) return null;
  return Number(match[1]) * (UNITS[match[2] ?? ''] ?? Number.NaN);
}

/** A short, safe picture of a wrong value for an error message. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  if (typeof value === 'number' || typeof value === 'boolean' || value === null || value === undefined)
    return String(value);
  if (typeof value === 'bigint') return `${value}n`;
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}
