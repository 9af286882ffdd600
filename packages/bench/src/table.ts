import { costs, ratios } from './compare.ts';
import { OURS, OURS_LOGGED } from './contestants/names.ts';
import { summaries } from './medians.ts';
import { formatValue, type Metric, metricsOf } from './metrics.ts';
import type { Run } from './report.ts';

const HEADINGS = ['suite', 'concurrency', 'metric', 'contestant', 'median', 'Surety is'];
const NUMBER_COLUMNS = new Set(['concurrency', 'median', 'Surety is']);

/** The medians, one line a contestant and metric, as a table of plain text; and what things cost Surety itself. */
export function table(runs: readonly Run[]): string {
  const cells = summaries(runs);
  const found = ratios(cells);
  const ratioText = (suite: string, peer: string, concurrency: number, metric: Metric): string => {
    if (peer === OURS || peer === OURS_LOGGED) return '';
    const ratio = found.find(
      (one) =>
        one.suite === suite && one.peer === peer && one.concurrency === concurrency && one.metric === metric,
    );
    return ratio === undefined ? '-' : `x ${ratio.ratio.toFixed(2)}`;
  };
  const lines = cells.flatMap(({ suite, contestant, concurrency, failed, values }) =>
    failed
      ? [[suite, String(concurrency), '-', contestant, 'FAILED', '-']]
      : metricsOf(values).map((metric) => [
          suite,
          String(concurrency),
          metric,
          contestant,
          formatValue(metric, values[metric] ?? 0),
          ratioText(suite, contestant, concurrency, metric),
        ]),
  );
  const costLines = costs(cells).map(
    ({ of, concurrency, cost, limit }) =>
      `${of}, concurrency ${concurrency}: ${cost.toFixed(2)} times the time, at most ${limit}${cost > limit ? ': MISSED' : ''}`,
  );
  return [aligned([HEADINGS, ...byMetric(lines)]), ...costLines].join('\n');
}

/** One line as soon as a run has ended. */
export function runLine(run: Run): string {
  const { suite, round, concurrency, contestant, values, cut, failure } = run;
  const what =
    failure === null
      ? metricsOf(values)
          .map((metric) => `${metric} ${formatValue(metric, values[metric] ?? 0)}`)
          .join(', ')
      : `FAILED: ${failure}`;
  return `${suite}, round ${round}, concurrency ${concurrency}, ${contestant}: ${what}${cut ? ' (cut)' : ''}`;
}

/** What is to be compared stands together. */
function byMetric(lines: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const groups = Map.groupBy(lines, ([suite, concurrency, metric]) => [suite, concurrency, metric].join(' '));
  return [...groups.values()].flat();
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return NUMBER_COLUMNS.has(HEADINGS[column] ?? '') ? cell.padStart(width) : cell.padEnd(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
