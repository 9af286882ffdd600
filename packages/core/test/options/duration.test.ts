import { describe, expect, test } from 'vitest';
import { durationMs, shown } from '../../src/options/duration.ts';
import { caught } from '../producer/caught.ts';

describe('durations', () => {
  test.each([
    [0, 0],
    [1500, 1500],
    [0.1, 1],
    [1.5, 2],
    ['250ms', 250],
    ['30s', 30_000],
    ['1.5s', 1500],
    ['0.0001s', 1],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['366d', 31_622_400_000],
  ])('%s is %i ms', (given, ms) => {
    expect(durationMs('delay', given, 0, 366 * 86_400_000)).toBe(ms);
  });

  test.each([
    '',
    '5',
    's',
    '5 s',
    '5S',
    '5sec',
    '-5s',
    '+5s',
    '1e3s',
    '.5s',
    '5.s',
    '5s ',
    '5s\n',
    '٥s',
    '1h30m',

    Number.NaN,
    Number.POSITIVE_INFINITY,
    null,
    undefined,
    true,
    5n,
    [],
    {},
    new Date(),
    `${'9'.repeat(400)}d`,
  ])('%s is none', async (given) => {
    const error = await caught(() => durationMs('delay', given, 0, 1e9));
    expect(error.code).toBe('OPTIONS_INVALID');
    expect(error.message).toMatch(/^delay is not a duration: .*\. Give milliseconds/s);
  });

  test('the bounds are allowed, what lies beyond is refused with both named', async () => {
    expect([durationMs('t', 1, 1, 10), durationMs('t', 10, 1, 10)]).toEqual([1, 10]);
    for (const given of [0, 0.5, -1, 10.5, 11, '1s']) {
      const error = await caught(() => durationMs('t', given, 1, 10));
      expect(error.message).toContain('outside 1 to 10 ms.');
    }
  });

  test('a picture of a wrong value is short and safe', () => {
    expect(shown('x'.repeat(1000))).toHaveLength(62);
    expect([shown(1n), shown([]), shown({}), shown(Symbol('s')), shown(null)]).toEqual([
      '1n',
      'an array',
      'a value of type object',
      'a value of type symbol',
      'null',
    ]);
  });
});
