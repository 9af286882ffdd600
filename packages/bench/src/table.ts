import { OURS } from './contestants/registry.ts';
import { ratios, type Summary, summaries } from './medians.ts';
import type { Run } from './report.ts';

const HEADINGS = [
  'suite',
  'concurrency',
  'contestant',
  'jobs/s',
  'Surety is',
  'worker us/job',
  'server us/job',
];
const TEXT_COLUMNS = new Set(['suite', 'contestant']);

/** The medians, one line a contestant and concurrency, as a table of plain text. */
export function table(runs: readonly Run[]): string {
  const cells = summaries(runs);
  const found = ratios(cells);
  const ratioText = (cell: Summary): string => {
    const ratio = found.find(
      ({ suite, peer, concurrency }) =>
        suite === cell.suite && peer === cell.contestant && concurrency === cell.concurrency,
    );
    if (ratio !== undefined) return `x ${ratio.ratio.toFixed(2)}`;
    return cell.contestant === OURS ? '' : '-';
  };
  const lines = cells.map((cell) => [
    cell.suite,
    String(cell.concurrency),
    cell.contestant,
    cell.throughput === null ? 'failed' : wholeNumber(cell.throughput),
    ratioText(cell),
    oneDecimal(cell.workerCpuUsPerJob),
    oneDecimal(cell.serverCpuUsPerJob),
  ]);
  return aligned([HEADINGS, ...lines]);
}

/** One line as soon as a run has ended. */
export function runLine(run: Run): string {
  const { suite, round, concurrency, contestant, throughput, failure } = run;
  const what = failure === null ? `${wholeNumber(throughput)} jobs/s` : `FAILED: ${failure}`;
  return `${suite}, round ${round}, concurrency ${concurrency}, ${contestant}: ${what}`;
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return TEXT_COLUMNS.has(HEADINGS[column] ?? '') ? cell.padEnd(width) : cell.padStart(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function wholeNumber(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function oneDecimal(value: number | null): string {
  return value === null ? '-' : value.toFixed(1);
}
