import { expect, test } from 'vitest';
import { median, ratios, summaries } from '../src/medians.ts';
import { rounds, run } from './runs.ts';

test('a median is the middle one whatever the order', () => {
  expect(median([30, 1, 20])).toBe(20);
  expect(median([100, 9])).toBe(54.5);
  expect(median([7])).toBe(7);
  expect(() => median([])).toThrow('median of nothing');
});

test('a ratio is ours over the peer of the medians of one concurrency', () => {
  const runs = [
    ...rounds('surety', [30_000, 90_000, 40_000]),
    ...rounds('peer', [20_000, 10_000, 25_000]),
    ...rounds('peer', [10_000], 100),
    ...rounds('surety', [5000], 100),
  ];
  expect(ratios(summaries(runs))).toEqual([
    { suite: 'drain', peer: 'peer', concurrency: 10, metric: 'throughput', ratio: 2 },
    { suite: 'drain', peer: 'peer', concurrency: 100, metric: 'throughput', ratio: 0.5 },
  ]);
});

test('a failed run leaves no median and no ratio, on either side', () => {
  for (const failing of ['surety', 'peer']) {
    const runs = [
      ...rounds('surety', [30_000, 40_000]),
      ...rounds('peer', [20_000, 10_000]),
      run({
        contestant: failing,
        throughput: 99_000,
        failure: 'all jobs were handled, but 5 are still stored',
      }),
    ];
    const cells = summaries(runs);
    expect(cells.find(({ contestant }) => contestant === failing)?.throughput).toBeNull();
    expect(ratios(cells)).toEqual([]);
  }
});

test('server time that was not seen in every run has no median', () => {
  const [cell] = summaries([run({}), run({ serverCpuUsPerJob: null })]);
  expect(cell).toMatchObject({ throughput: 10_000, workerCpuUsPerJob: 20, serverCpuUsPerJob: null });
});
