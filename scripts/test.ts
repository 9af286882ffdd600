/**
 * Runs the static checks and the tests and ends with one line, `N passed, N failed`, from what vitest itself counted.
 * Arguments go to vitest: `npm test -- packages/core/test/backoff.test.ts -t 'cap'`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface VitestReport {
  readonly success: boolean;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

const directory = mkdtempSync(join(tmpdir(), 'surety-test-'));
const reportFile = join(directory, 'report.json');
process.exitCode = checked() ? run() : 1;

/** The static checks come first, unless only some tests are asked for. */
function checked(): boolean {
  if (process.argv.length > 2) return true;
  const check = join(import.meta.dirname, 'check.ts');
  if (spawnSync(process.execPath, [check], { stdio: ['ignore', 'inherit', 'inherit'] }).status === 0)
    return true;
  rmSync(directory, { recursive: true, force: true });
  console.log('The static checks failed; no test was run.\n0 passed, 1 failed');
  return false;
}

function run(): number {
  try {
    const vitest = spawnSync(
      process.execPath,
      [
        join(import.meta.dirname, '../node_modules/vitest/vitest.mjs'),
        'run',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${reportFile}`,
        ...process.argv.slice(2),
      ],
      { cwd: join(import.meta.dirname, '..'), stdio: ['ignore', 'inherit', 'inherit'] },
    );
    return summarise(vitest.status ?? 1);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function summarise(vitestStatus: number): number {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const report = readReport();
  for (const file of report?.testResults ?? []) {
    const statuses = file.assertionResults.map((test) => test.status);
    for (const status of statuses) {
      if (status === 'passed') counts.passed++;
      else if (status === 'failed') counts.failed++;
      else counts.skipped++;
    }
    // A file that could not be loaded, or whose hooks failed, has no failed test of its own.
    if (file.status === 'failed' && !statuses.includes('failed')) counts.failed++;
  }
  const broken = vitestStatus !== 0 || report === undefined || !report.success;
  // An unhandled error, or a runner that died: green tests do not make such a run a success.
  if (broken && counts.failed === 0) {
    console.error('The run failed outside of any test: see above.');
    counts.failed++;
  }
  if (counts.passed + counts.failed === 0) console.error('No test was run.');
  if (counts.skipped > 0) console.log(`${counts.skipped} tests did not run (skipped or todo).`);
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed > 0 || counts.passed === 0 ? 1 : 0;
}

function readReport(): VitestReport | undefined {
  try {
    return JSON.parse(readFileSync(reportFile, 'utf8')) as VitestReport;
  } catch {
    return undefined;
  }
}
