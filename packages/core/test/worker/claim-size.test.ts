import { expect, test } from 'vitest';
import { ClaimSize } from '../../src/worker/claim-size.ts';

test('what a first handler pays once does not keep the claims small', () => {
  const size = new ClaimSize(1, true);
  expect(size.target()).toBe(1);
  size.saw(15);
  expect(size.target()).toBe(2);
  size.saw(0.1);
  expect(size.target()).toBe(300);
});

test('the first times count alike: one that was quick by chance is outweighed at once', () => {
  const size = new ClaimSize(1, true);
  for (const ms of [5, 1, 29, 30]) size.saw(ms);
  expect(size.target()).toBe(1);
});

test('later one time moves the mean by a twentieth', () => {
  const size = new ClaimSize(1, true);
  for (let count = 0; count < 100; count += 1) size.saw(1);
  size.saw(21);
  expect(size.target()).toBe(15);
});

test('held jobs that found no slot make it careful, and only time makes it bold again', () => {
  const size = new ClaimSize(1, true);
  size.saw(1);
  size.saw(1);
  size.sawSlow(30);
  expect(size.target()).toBe(1);
  size.saw(1);
  expect(size.target()).toBe(1);
  size.sawSlow(2);
  expect(size.target()).toBe(1);
});

test('nothing is claimed ahead where that was refused, and never more than a thousand', () => {
  const strict = new ClaimSize(4, false);
  strict.saw(0.01);
  expect(strict.target()).toBe(4);
  const size = new ClaimSize(4, true);
  size.saw(0);
  expect(size.target()).toBe(1000);
});
