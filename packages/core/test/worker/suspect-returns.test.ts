import { expect, test } from 'vitest';
import { SuspectReturns } from '../../src/worker/suspect-returns.ts';

test('a few suspects come back soon, each after 150 to 300 ms', () => {
  const returns = new SuspectReturns();
  expect(returns.delayMs(1000, 0)).toBe(150);
  expect(returns.delayMs(5000, 1)).toBe(300);
});

test('B046: thousands come back at the pace at which they end, and none later than half a minute and a little', () => {
  const returns = new SuspectReturns();
  for (let runs = 0; runs < 50; runs++) returns.ran(400);
  const delays = Array.from({ length: 5000 }, () => returns.delayMs(1000, 0));
  const inTheFirstSecond = delays.filter((ms) => ms < 1000).length;
  expect(inTheFirstSecond).toBeGreaterThan(5);
  expect(inTheFirstSecond).toBeLessThan(15);
  expect(Math.max(...delays)).toBe(30_000);
});

test('short runs bring many back', () => {
  const returns = new SuspectReturns();
  for (let runs = 0; runs < 50; runs++) returns.ran(1);
  const delays = Array.from({ length: 1000 }, () => returns.delayMs(1000, 0));
  expect(delays.filter((ms) => ms < 1000).length).toBeGreaterThan(400);
});
