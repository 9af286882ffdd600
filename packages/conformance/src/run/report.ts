import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Capabilities } from '@surety/core/contract';
import type { CaseResult, Status } from './verdict.ts';

/** Cases by how they ended. */
export interface Totals {
  readonly proven: number;
  readonly notApplicable: number;
  readonly notExercised: number;
  readonly waived: number;
  readonly failed: number;
}

/** What a run of the suite found. Written as it is; tables are generated from it. */
export interface Report {
  readonly backend: string;
  readonly variant: string | null;
  readonly versions: Readonly<Record<string, string>>;
  /** Version of the suite. */
  readonly suite: string;
  readonly contractVersion: number;
  readonly capabilities: Capabilities;
  readonly date: string;
  /** Whether all cases were asked; a quick or filtered run is not compared by its totals. */
  readonly complete: boolean;
  readonly totals: Totals;
  readonly cases: readonly CaseResult[];
}

const FIELD: Readonly<Record<Status, keyof Totals>> = {
  proven: 'proven',
  'not-applicable': 'notApplicable',
  'not-exercised': 'notExercised',
  waived: 'waived',
  failed: 'failed',
};

export function totalsOf(cases: readonly CaseResult[]): Totals {
  const totals = { proven: 0, notApplicable: 0, notExercised: 0, waived: 0, failed: 0 };
  for (const { status } of cases) totals[FIELD[status]]++;
  return totals;
}

/** Removed before the run, so that a run that dies leaves no report of an older one. */
export function removeReport(file: string): void {
  rmSync(file, { force: true });
}

export function writeReport(file: string, report: Report): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
}

/** Version of this package, from its own manifest. */
export function suiteVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (manifest as { readonly version: string }).version;
}

/** File name part of a configuration: `-<variant>`, empty for the plain one. */
export function variantSuffix(variant: string | null): string {
  return variant === null ? '' : `-${variant}`;
}
