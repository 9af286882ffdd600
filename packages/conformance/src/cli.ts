/**
 * Asks one adapter of this repository: `npm run conformance -- NAME [--variant V] [--quick] [--only PREFIX] [--seed N]
 * [--update-expected]`. Ends with 1 when a case failed or the committed expected file differs.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { differences, readExpected, writeExpected } from './run/expected.ts';
import { harnessFolder, loadHarness } from './run/load-harness.ts';
import { variantSuffix } from './run/report.ts';
import { describeFailure } from './run/run-case.ts';
import { runSuite } from './run/run-suite.ts';
import { tableOf } from './run/table.ts';
import type { CaseResult } from './run/verdict.ts';

const USAGE =
  'npm run conformance -- NAME [--variant V] [--quick] [--only PREFIX] [--seed N] [--update-expected]';
/** Cases slower than this are named with their time as they pass. */
const SLOW_MS = 5000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    variant: { type: 'string' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    seed: { type: 'string' },
    'update-expected': { type: 'boolean', default: false },
  },
});

let strays = 0;
process.on('unhandledRejection', (error) => {
  strays++;
  console.error(`unhandled rejection: ${describeFailure(error)}`);
});
// Left to the end of the event loop: an adapter that forgets a handle keeps the process, and is found out.
process.exitCode = await main();

async function main(): Promise<number> {
  const [name] = positionals;
  if (name === undefined || positionals.length > 1) {
    console.error(USAGE);
    return 2;
  }
  const folder = harnessFolder(name);
  const variant = values.variant ?? null;
  const harness = await loadHarness(name, variant);
  const suffix = variantSuffix(variant);
  const complete = !values.quick && values.only === undefined;
  const report = await runSuite({
    harness,
    cost: values.quick ? 'quick' : 'all',
    ...(values.only === undefined ? {} : { only: values.only }),
    ...(values.seed === undefined ? {} : { seed: Number(values.seed) }),
    ...(complete
      ? { reportFile: join(process.cwd(), 'reports', 'conformance', `${name}${suffix}.json`) }
      : {}),
    onResult: show,
  });
  console.log(`\n${tableOf(report)}`);
  const expectedFile = join(folder, `conformance.expected${suffix}.json`);
  const failed = report.totals.failed + strays;
  if (values['update-expected']) {
    if (!complete || failed > 0) {
      console.error('The expected file is only written from a complete run without failures.');
      return 1;
    }
    writeExpected(expectedFile, report);
    console.log(`wrote ${expectedFile}`);
    return 0;
  }
  return failed > 0 || differs(expectedFile, report) ? 1 : 0;
}

function differs(file: string, report: Parameters<typeof differences>[0]): boolean {
  const expected = readExpected(file);
  if (expected === null) {
    console.error(`${file} is missing: run a complete run with --update-expected and commit the file.`);
    return true;
  }
  const found = differences(report, expected);
  for (const sentence of found) console.error(`differs: ${sentence}`);
  return found.length > 0;
}

function show(result: CaseResult): void {
  if (result.status === 'failed') console.log(`FAILED ${result.id} (${result.ms} ms): ${result.reason}`);
  else if (result.ms > SLOW_MS) console.log(`${result.status} ${result.id} (${result.ms} ms)`);
}
