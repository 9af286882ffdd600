import { expect, test } from 'vitest';
import { Limiter } from '../src/contestants/limiter.ts';

test('batches at the same time run each item once, no more than so many together', async () => {
  const limiter = new Limiter(3);
  let running = 0;
  let most = 0;
  const seen: number[] = [];
  const run = async (item: number): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    seen.push(item);
    running -= 1;
  };
  const batch = (from: number): number[] => Array.from({ length: 10 }, (_, n) => from + n);
  await Promise.all([limiter.all(batch(0), run), limiter.all(batch(10), run), limiter.all([], run)]);
  await limiter.all(batch(20), run);
  expect(most).toBe(3);
  expect(seen.toSorted((a, b) => a - b)).toEqual([...Array(30).keys()]);
});

test('a place is given back after an error', async () => {
  const limiter = new Limiter(1);
  await expect(limiter.all([1], () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const seen: number[] = [];
  await limiter.all([2], async (item) => void seen.push(item));
  expect(seen).toEqual([2]);
});
