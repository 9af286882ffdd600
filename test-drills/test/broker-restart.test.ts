import { expect, test } from 'vitest';
import { brokenOf, planted, quickly } from './run.ts';

test('broker-restart holds on redis', { timeout: 240_000 }, async () => {
  const { verdict, figures } = await quickly('broker-restart', 'redis');
  expect(figures['broken']).toEqual([]);
  expect(verdict).toBe('held');
  expect(figures['outages']).toBe(1);
});

test('a store that acknowledges before it stores is found out', { timeout: 240_000 }, async () => {
  const broken = brokenOf(await quickly('broker-restart', 'redis', planted('write-behind')));
  expect(broken).toContain('the recorded history is whole: lost');
});
