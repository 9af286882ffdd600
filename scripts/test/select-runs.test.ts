import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allRuns, type ConformanceRun, selectRuns } from '../workflows/select-runs.ts';

const root = join(import.meta.dirname, '../..');
const runs: readonly ConformanceRun[] = [
  { backend: 'memory', variant: '' },
  { backend: 'postgres', variant: '' },
  { backend: 'postgres', variant: '18' },
];

describe('runs of the conformance suite', () => {
  test('are all that have a committed report', () => {
    const names = allRuns(root).map(
      ({ backend, variant }) => backend + (variant === '' ? '' : `-${variant}`),
    );
    const reports = readdirSync(join(root, 'reports/conformance'));
    expect(names.map((name) => `${name}.json`)).toEqual(
      reports.filter((name) => name.endsWith('.json')).sort(),
    );
    expect(names.length).toBeGreaterThan(0);
  });

  test('cover every adapter that has a harness', () => {
    const backends = new Set(allRuns(root).map(({ backend }) => backend));
    const adapters = readdirSync(join(root, 'packages')).filter((name) =>
      existsSync(join(root, 'packages', name, 'test/harness.ts')),
    );
    expect(adapters.filter((name) => !backends.has(name))).toEqual([]);
  });
});

describe('a change', () => {
  test.each([
    'packages/core/src/worker/worker.ts',
    'packages/conformance/src/cases/g1-stored.ts',
    'packages/testbed/src/index.ts',
    'package-lock.json',
    '.github/workflows/conformance.yml',
  ])('of %s needs all runs', (file) => {
    expect(selectRuns(runs, ['README.md', file])).toEqual(runs);
  });

  test('of one adapter needs its runs, in every configuration', () => {
    expect(selectRuns(runs, ['packages/postgres/src/statements/claim.sql'])).toEqual(runs.slice(1));
    expect(selectRuns(runs, ['packages/memory/test/harness.ts'])).toEqual(runs.slice(0, 1));
  });

  test('of pages, or of what no backend is built on, needs none', () => {
    expect(selectRuns(runs, ['packages/core/README.md', 'packages/bench/src/main.ts'])).toEqual([]);
    expect(selectRuns(runs, [])).toEqual([]);
    expect(selectRuns(runs, ['packages/postgres-something/src/index.ts', 'packages/core-js/x.ts'])).toEqual(
      [],
    );
  });

  test('that nobody can tell needs all', () => {
    expect(selectRuns(runs, null)).toEqual(runs);
  });
});
