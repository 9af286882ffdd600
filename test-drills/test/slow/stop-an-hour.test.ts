import { expect, test } from 'vitest';
import { excess, mostInASecond } from '../../04-stop-an-hour/downstream.ts';
import { drainMs, planOf } from '../../04-stop-an-hour/plan.ts';
import { brokenOf, planted, quickly } from '../run.ts';

test.each(['sqlite', 'postgres'])('stop-an-hour holds on %s', { timeout: 300_000 }, async (backend) => {
  const { verdict, figures } = await quickly('stop-an-hour', backend);
  expect(figures['broken']).toEqual([]);
  expect(verdict).toBe('held');
  expect(figures['backlog']).toBeGreaterThanOrEqual(80);
});

test('a store that tells no age is found out by the alert that did not fire', {
  timeout: 300_000,
}, async () => {
  expect(brokenOf(await quickly('stop-an-hour', 'sqlite', planted('ageless')))).toContain(
    'the alert on age fired while they stood still',
  );
});

test('the forecast is the backlog over what the service gains on the arrivals', () => {
  const plan = planOf({ quick: false, realTime: true, moves: 'atomic' });
  expect(plan.stopMs).toBe(3_600_000);
  expect(plan.serviceRate).toBe(20);
  expect(drainMs(plan, 36_000, 500)).toBe(3_001_000);
});

test('a stretch of calls above the rate is seen', () => {
  const even = Array.from({ length: 100 }, (_, index) => index * 40);
  expect(excess(even, 25, 2.5, 0)).toBeLessThanOrEqual(0);
  expect(mostInASecond(even)).toBe(25);
  expect(
    excess([...even, ...Array.from({ length: 40 }, (_, index) => 4000 + index)], 25, 2.5, 1000),
  ).toBeGreaterThan(0);
});
