import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type Report, type Totals, totalsOf } from './report.ts';
import type { Status } from './verdict.ts';

/** What a committed file says how every case ends. */
export interface Expected {
  readonly totals: Totals;
  readonly cases: Readonly<Record<string, Status>>;
}

/** Null when there is no such file. */
export function readExpected(file: string | URL): Expected | null {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Expected) : null;
}

export function writeExpected(file: string | URL, report: Report): void {
  const sorted = report.cases.toSorted((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
  const cases = Object.fromEntries(sorted.map(({ id, status }) => [id, status]));
  writeFileSync(file, `${JSON.stringify({ totals: totalsOf(sorted), cases }, null, 2)}\n`);
}

/**
 * Where a run differs from what is committed, one sentence each. A case that was not asked is only missed when the run
 * was complete; then the totals must hold too, so that no case can vanish unseen.
 */
export function differences(report: Report, expected: Expected): readonly string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  for (const { id, status } of report.cases) {
    seen.add(id);
    const was = expected.cases[id];
    if (was === undefined) found.push(`${id} is ${status}, and unknown to the expected file`);
    else if (was !== status) found.push(`${id} is ${status}, expected was ${was}`);
  }
  if (!report.complete) return found;
  for (const id of Object.keys(expected.cases)) if (!seen.has(id)) found.push(`${id} was not asked`);
  if (report.totals.proven < expected.totals.proven) {
    found.push(`${report.totals.proven} proven, expected were ${expected.totals.proven}`);
  }
  return found;
}
