import { expect, test } from 'vitest';
import { brokenOf, planted, quickly } from './run.ts';

test('clock-skew holds on sqlite', { timeout: 240_000 }, async () => {
  const { verdict, figures } = await quickly('clock-skew', 'sqlite');
  expect(figures['broken']).toEqual([]);
  expect(verdict).toBe('held');
  expect(figures['jumps']).toBeGreaterThan(1);
});

test('a store whose due times are those of the worker is found out', { timeout: 300_000 }, async () => {
  const broken = brokenOf(await quickly('clock-skew', 'sqlite', planted('own-clock')));
  expect(broken).toContain('no delayed job runs early');
});
