import { expect, test } from 'vitest';
import { type Account, failureOf } from '../src/suites/account.ts';

const whole: Account = {
  stored: 300,
  expected: 300,
  concurrency: 10,
  starts: 300,
  distinct: 300,
  emptied: true,
  left: 0,
};
/** Stopped after 200. */
const part: Account = { ...whole, expected: null, starts: 200, distinct: 200, left: 100 };

test.each([
  ['all were handled and are gone', whole],
  ['a part was handled and is gone', part],
  ['one that is stopped may leave one job a handler uncompleted', { ...part, left: 110 }],
])('%s', (_, account) => {
  expect(failureOf(account)).toBeNull();
});

test.each<[string, Account]>([
  ['1 jobs were never handled', { ...whole, starts: 299, distinct: 299 }],
  ['1 jobs were never handled', { ...whole, starts: 300, distinct: 299 }],
  ['1 jobs were handled more than once', { ...whole, starts: 301 }],
  ['300 of 300 jobs were handled, but 300 are still stored', { ...whole, emptied: false, left: 300 }],
  ['300 of 300 jobs were handled, but 1 are still stored', { ...whole, left: 1 }],
  ['300 of 300 jobs were handled, but 0 are still stored', { ...whole, emptied: false }],
  ['200 of 300 jobs were handled, but 300 are still stored', { ...part, left: 300 }],
  ['200 of 300 jobs were handled, but 111 are still stored', { ...part, left: 111 }],
  ['1 jobs are gone that were never handled', { ...part, left: 99 }],
  ['no job was handled', { ...part, starts: 0, distinct: 0, left: 300 }],
])('%s', (failure, account) => {
  expect(failureOf(account)).toBe(failure);
});
