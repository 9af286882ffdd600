import { MAX_DELAY_MS } from '@surety/core/contract';
import { describe, expect, it } from 'vitest';
import { LEVELS, patternOf, routeFor, STEP_MS, waitOf } from '../src/ladder.ts';

/** The levels that a route waits in, by the bindings of the exchanges, as the broker would match them. */
function levelsOf(route: NonNullable<ReturnType<typeof routeFor>>): number[] {
  const waits: number[] = [];
  for (let level = route.level; level >= 0; level--) {
    const matches = ([0, 1] as const).filter((word) => matcher(patternOf(level, word)).test(route.key));
    if (matches.length !== 1) throw new Error(`level ${level} matches ${matches.length} times`);
    if (matches[0] === 1) waits.push(level);
  }
  return waits;
}

/** A pattern of a topic exchange as a regular expression, for words of one letter. */
function matcher(pattern: string): RegExp {
  const [, ...words] = pattern.split('.');
  return new RegExp(`^(?:\\w\\.)*${words.map((word) => (word === '*' ? '\\w' : word)).join('\\.')}$`);
}

describe('the ladder of delays', () => {
  it('waits for at least the delay, and less than a step longer', () => {
    const delays = [1, 63, 64, 65, 1000, 3_600_000, 3_600_001, 86_400_000, 30 * 86_400_000, MAX_DELAY_MS];
    for (let n = 0; n < 200; n++) delays.push(Math.ceil(Math.random() * MAX_DELAY_MS));
    for (const delayMs of delays) {
      const route = routeFor(delayMs);
      if (route === null) throw new Error('no route');
      const waited = levelsOf(route).reduce((sum, level) => sum + waitOf(level), 0);
      expect(waited).toBeGreaterThanOrEqual(delayMs);
      expect(waited - delayMs).toBeLessThan(STEP_MS);
      expect(route.level).toBeLessThan(LEVELS);
    }
  });

  it('is not entered without a delay', () => {
    for (const delayMs of [0, -1, Number.NaN]) expect(routeFor(delayMs)).toBeNull();
  });

  it('enters at the highest level that waits, with one word for each from there down', () => {
    expect(routeFor(1)).toEqual({ level: 0, key: '1' });
    expect(routeFor(64 * 5)).toEqual({ level: 2, key: '1.0.1' });
    expect(routeFor(64 * 4 + 1)).toEqual({ level: 2, key: '1.0.1' });
  });
});
