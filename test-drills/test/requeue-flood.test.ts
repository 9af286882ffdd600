import { expect, test } from 'vitest';
import { mostStarts } from '../11-requeue-flood/jobs.ts';
import { brokenOf, quickly, saboteur } from './run.ts';

test('requeue-flood holds on sqlite', { timeout: 240_000 }, async () => {
  const { verdict, figures } = await quickly('requeue-flood', 'sqlite');
  expect(figures['broken']).toEqual([]);
  expect(verdict).toBe('held');
  expect(figures['mostStartsOfAJob']).toBeGreaterThanOrEqual(3);
});

test('a store that forgets the delay of a retry is found out', { timeout: 240_000 }, async () => {
  const broken = brokenOf(await quickly('requeue-flood', 'sqlite', saboteur('retries-at-once')));
  expect(broken).toContain('no job was started more often than its delays allow');
  expect(broken).toContain('no start before its due time');
});

test('the most starts follow from the least delays', () => {
  expect(mostStarts(0, 16)).toBe(1);
  expect(mostStarts(399, 16)).toBe(1);
  expect(mostStarts(400, 16)).toBe(2);
  expect(mostStarts(1200, 16)).toBe(3);
  expect(mostStarts(10_000, 16)).toBe(8);
  expect(mostStarts(10_000, 3)).toBe(3);
  expect(mostStarts(20_000, 16)).toBeLessThan(16);
});
