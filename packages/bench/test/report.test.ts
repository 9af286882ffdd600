import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { installedVersion } from '../src/installed-version.ts';
import { describeMachine } from '../src/machine.ts';
import { makeReport, removeReport, writeReport } from '../src/report.ts';
import { runLine, table } from '../src/table.ts';
import { rates, run } from './runs.ts';

const runs = [...rates('surety', [30_000, 50_000, 40_000]), ...rates('peer', [30_000, 30_000, 30_000])];
const report = makeReport({
  backend: 'postgres',
  date: '2026-01-02T03:04:05.000Z',
  machine: describeMachine(),
  loadBefore: 0.5,
  versions: { node: process.versions.node },
  settings: { fsync: 'on' },
  options: {
    suites: ['drain'],
    jobs: 1000,
    warmUp: 10,
    rounds: 3,
    concurrency: [10],
    backlog: 1,
    limitMs: 5000,
  },
  runs,
});

test('a written report holds machine, versions, ratios and every run, and is gone once removed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'surety-bench-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = pathToFileURL(join(folder, 'bench', 'postgres.json'));

  await writeReport(file, report);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
    ...report,
    ratios: [{ suite: 'drain', peer: 'peer', concurrency: 10, metric: 'throughput', ratio: 1.333 }],
    costs: [],
  });
  await removeReport(file);
  await expect(readFile(file)).rejects.toThrow('ENOENT');
  await removeReport(file);
});

test('the machine is described', () => {
  expect(report.machine).toEqual({
    cpu: expect.stringMatching(/./),
    cores: expect.any(Number),
    memory: expect.any(Number),
    node: process.version,
    os: expect.stringContaining(process.arch),
  });
});

test('versions are those of the packages that are loaded', async () => {
  expect(await installedVersion('pg')).toMatch(/^8\./);
  expect(await installedVersion('@surety/core')).toMatch(/^\d+\.\d+\.\d+/);
});

test('the table shows the medians, how ours compares and what things cost', () => {
  const lines = table([
    ...runs,
    ...rates('surety-logged', [10_000]),
    run({ contestant: 'broken', failure: '3 jobs were never handled' }),
  ]).split('\n');
  expect(lines.map((line) => line.trim().split(/\s{2,}/))).toEqual([
    ['suite', 'concurrency', 'metric', 'contestant', 'median', 'Surety is'],
    ['drain', '10', 'throughput', 'surety', '40,000 jobs/s'],
    ['drain', '10', 'throughput', 'peer', '30,000 jobs/s', 'x 1.33'],
    ['drain', '10', 'throughput', 'surety-logged', '10,000 jobs/s'],
    ['drain', '10', '-', 'broken', 'FAILED', '-'],
    ['a line of log per attempt, concurrency 10: 4.00 times the time, at most 2: MISSED'],
  ]);
});

test('a run is told in one line, a failed one with its reason', () => {
  const values = { throughput: 10_000, cpu: 20.04 };
  expect(runLine(run({ values }))).toBe(
    'drain, round 1, concurrency 10, surety: throughput 10,000 jobs/s, cpu 20.0 us/job',
  );
  expect(runLine(run({ cut: true }))).toMatch(/ jobs\/s \(cut\)$/);
  expect(runLine(run({ failure: '3 jobs were never handled' }))).toContain(
    'FAILED: 3 jobs were never handled',
  );
});
