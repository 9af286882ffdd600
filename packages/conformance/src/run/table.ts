import { PROMISES } from '@surety/core';
import type { Report } from './report.ts';
import type { Status } from './verdict.ts';

const COLUMNS: readonly (readonly [Status, string])[] = [
  ['proven', 'proven'],
  ['not-applicable', 'n.a.'],
  ['not-exercised', 'not exercised'],
  ['waived', 'waived'],
  ['failed', 'failed'],
];

/** Ends that are worth a line of their own, with their reason. */
const TOLD: readonly Status[] = ['not-exercised', 'waived', 'failed'];

/** One line per promise that was asked, then what ended in one of the `told` ways, with reasons. */
export function tableOf(report: Report, told: readonly Status[] = TOLD): string {
  const head = ['promise'.padEnd(46), ...COLUMNS.map(([, title]) => title.padStart(13))].join(' ');
  const lines = Object.entries(PROMISES).flatMap(([promise, name]) => {
    const asked = report.cases.filter((result) => result.guarantee.split('.')[0] === promise);
    if (asked.length === 0) return [];
    const figures = COLUMNS.map(([status]) => asked.filter((result) => result.status === status).length);
    return [`${promise.padEnd(4)}${name}`.padEnd(46), ...figures.map((n) => String(n).padStart(13))].join(
      ' ',
    );
  });
  const cases = report.cases
    .filter(({ status }) => told.includes(status))
    .map(({ id, status, reason }) => `${status} ${id}\n    ${reason ?? ''}`);
  const { proven, notApplicable, notExercised, waived, failed } = report.totals;
  const sum = `${proven} proven, ${notApplicable} not applicable, ${notExercised} not exercised, ${waived} waived, ${failed} failed`;
  return [head, ...lines, '', ...cases, sum].join('\n');
}
