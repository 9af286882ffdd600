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

/** One line per promise, then what failed or was not exercised, with reasons. */
export function tableOf(report: Report): string {
  const head = ['promise'.padEnd(46), ...COLUMNS.map(([, title]) => title.padStart(13))].join(' ');
  const lines = Object.entries(PROMISES).map(([promise, name]) => {
    const cases = report.cases.filter((result) => result.guarantee.split('.')[0] === promise);
    const figures = COLUMNS.map(([status]) => cases.filter((result) => result.status === status).length);
    return [`${promise.padEnd(4)}${name}`.padEnd(46), ...figures.map((n) => String(n).padStart(13))].join(
      ' ',
    );
  });
  const told = report.cases
    .filter(({ status }) => status !== 'proven' && status !== 'not-applicable')
    .map(({ id, status, reason }) => `${status} ${id}\n    ${reason ?? ''}`);
  const { proven, notApplicable, notExercised, waived, failed } = report.totals;
  const sum = `${proven} proven, ${notApplicable} not applicable, ${notExercised} not exercised, ${waived} waived, ${failed} failed`;
  return [head, ...lines, '', ...told, sum].join('\n');
}
