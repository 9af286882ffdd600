import { expect, test } from 'vitest';
import { costs, ratios } from '../src/compare.ts';
import { median, summaries } from '../src/medians.ts';
import { percentile } from '../src/suites/percentile.ts';
import { rates, rounds, run } from './runs.ts';

test('a median is the middle one whatever the order', () => {
  expect(median([30, 1, 20])).toBe(20);
  expect(median([100, 9])).toBe(54.5);
  expect(median([7])).toBe(7);
  expect(() => median([])).toThrow('median of nothing');
});

test('a percentile is a value that was there', () => {
  const values = Array.from({ length: 150 }, (_, n) => 150 - n);
  expect([50, 99, 100, 0].map((percent) => percentile(values, percent))).toEqual([75, 149, 150, 1]);
  expect(percentile([3], 99)).toBe(3);
  expect(() => percentile([], 50)).toThrow('percentile of nothing');
});

test('a ratio is ours over the peer of the medians of one concurrency', () => {
  const runs = [
    ...rates('surety', [30_000, 90_000, 40_000]),
    ...rates('peer', [20_000, 10_000, 25_000]),
    ...rates('peer', [10_000], 100),
    ...rates('surety', [5000], 100),
  ];
  expect(ratios(summaries(runs))).toEqual([
    { suite: 'drain', peer: 'peer', concurrency: 10, metric: 'throughput', ratio: 2 },
    { suite: 'drain', peer: 'peer', concurrency: 100, metric: 'throughput', ratio: 0.5 },
  ]);
});

test('above 1 is better for times, memory and CPU too', () => {
  const ours = { pickupP50: 2, cpu: 10, memory: 50, stored: 1000 };
  const theirs = { pickupP50: 4, cpu: 30, memory: 100, stored: 500 };
  const found = ratios(summaries([...rounds('surety', [ours]), ...rounds('peer', [theirs])]));
  expect(Object.fromEntries(found.map(({ metric, ratio }) => [metric, ratio]))).toEqual({
    pickupP50: 2,
    cpu: 3,
    memory: 2,
    stored: 0.5,
  });
});

test('a failed run leaves no median and no ratio, on either side', () => {
  for (const failing of ['surety', 'peer']) {
    const runs = [
      ...rates('surety', [30_000, 40_000]),
      ...rates('peer', [20_000, 10_000]),
      run({ contestant: failing, failure: 'all jobs were handled, but 5 are still stored' }),
    ];
    const cells = summaries(runs);
    expect(cells.find(({ contestant }) => contestant === failing)).toMatchObject({
      failed: true,
      values: {},
    });
    expect(ratios(cells)).toEqual([]);
  }
});

test('a figure that was not seen in every run has no median', () => {
  const both = { throughput: 10_000, cpu: 20 };
  for (const runs of [
    [both, { throughput: 20_000 }],
    [{ throughput: 20_000 }, both],
  ]) {
    const [cell] = summaries(rounds('surety', runs));
    expect(cell?.values).toEqual({ throughput: 15_000 });
  }
});

test('what is compared with Surety itself is a cost and no peer', () => {
  const of = (suite: string, values: object): ReturnType<typeof run> =>
    run({ suite, values, concurrency: 50 });
  const runs = [
    ...rates('surety', [30_000]),
    ...rates('surety-logged', [20_000]),
    of('backlog10k', { backlog10k: 40_000 }),
    of('backlog1M', { backlog1M: 50_000 }),
    of('backlog1MFuture', { backlog1MFuture: 25_000 }),
  ];
  expect(ratios(summaries(runs))).toEqual([]);
  expect(costs(summaries(runs))).toEqual([
    { of: 'a line of log per attempt', concurrency: 10, cost: 1.5, limit: 2 },
    { of: '1M ready jobs behind those worked off', concurrency: 50, cost: 0.8, limit: 1.3 },
    { of: '1M scheduled jobs beside those worked off', concurrency: 50, cost: 1.6, limit: 1.3 },
  ]);
});
