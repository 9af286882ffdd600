import { runSuite, tableOf, writeExpected } from '@surety/conformance';
import { createHarness } from './test/harness.ts';

// region: judge
// node judge.ts               all cases, slow ones too, as a table
// node judge.ts --update      and what the suite said becomes what is expected from now on
// node judge.ts --only G2.4   one sub-clause
const only = process.argv.includes('--only') ? (process.argv.at(-1) ?? '') : '';
const report = await runSuite({ harness: createHarness(), cost: 'all', only });
console.log(tableOf(report));
if (process.argv.includes('--update'))
  writeExpected(new URL('test/conformance.expected.json', import.meta.url), report);
// endregion
process.exitCode = report.totals.failed > 0 ? 1 : 0;
