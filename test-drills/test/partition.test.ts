import { expect, test } from 'vitest';
import { brokenOf, planted, quickly } from './run.ts';

test('partition holds on redis', { timeout: 240_000 }, async () => {
  const { verdict, figures } = await quickly('partition', 'redis');
  expect(figures['broken']).toEqual([]);
  expect(verdict).toBe('held');
  expect(figures['rounds']).toBe(4);
});

test('an adapter that repeats an unanswered enqueue under a new id is found out', {
  timeout: 240_000,
}, async () => {
  const broken = brokenOf(await quickly('partition', 'redis', planted('repeats-anew')));
  expect(broken).toContain('the recorded history is whole: extra-copy');
});
