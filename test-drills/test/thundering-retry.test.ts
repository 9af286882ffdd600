import { expect, test } from 'vitest';
import { distanceFromEven, mostDistance, perTenth } from '../10-thundering-retry/distribution.ts';
import { seededRandom } from '../stage/random.ts';
import { brokenOf, quickly, saboteur } from './run.ts';

test('thundering-retry holds on sqlite', { timeout: 240_000 }, async () => {
  const { verdict, figures } = await quickly('thundering-retry', 'sqlite');
  expect(figures['broken']).toEqual([]);
  expect(verdict).toBe('held');
  expect(figures['retries']).toBeGreaterThanOrEqual(300);
});

test('a store that forgets the delay of a retry is found out', { timeout: 240_000 }, async () => {
  const broken = brokenOf(await quickly('thundering-retry', 'sqlite', saboteur('retries-at-once')));
  expect(broken).toContain('no start before its due time');
});

test('delays without jitter, with half of it or with lumps in it are found out, even ones are not', () => {
  const random = seededRandom(4711);
  const even = Array.from({ length: 300 }, () => random.next());
  const limit = mostDistance(300);
  expect(distanceFromEven(even)).toBeLessThan(limit);
  expect(distanceFromEven(even.map(() => 0.5))).toBeGreaterThan(limit);
  expect(distanceFromEven(even.map((value) => value / 2))).toBeGreaterThan(limit);
  expect(distanceFromEven(even.map((value) => Math.round(value * 2) / 2))).toBeGreaterThan(limit);
  expect(perTenth([0, 0.05, 0.95, 1])).toEqual([2, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
});

test('the limit is that of the test of Kolmogorov and Smirnov', () => {
  // By its table: 1.63 / sqrt(n) for one in a hundred; for one in a million 2.69 / sqrt(n).
  expect(mostDistance(1000)).toBeCloseTo(2.694 / Math.sqrt(1000), 4);
  expect(distanceFromEven([0.5])).toBe(0.5);
  expect(distanceFromEven([0.25, 0.75])).toBe(0.25);
});
