export { type Case, type CaseDraft, type Cost, define, type Hook } from './case.ts';
export { CASES } from './catalogue.ts';
export type { ClaimOptions, Context, WaitOptions } from './context.ts';
export type * from './harness.ts';
export { differences, type Expected, readExpected, writeExpected } from './run/expected.ts';
export type { Report, Totals } from './run/report.ts';
export { runSuite, type SuiteOptions, selectCases } from './run/run-suite.ts';
export { tableOf } from './run/table.ts';
export type { CaseResult, Status, Waiver } from './run/verdict.ts';
