import type { Finding, HistoryReport } from '@surety/history';
import { JSON_OPTION } from '../arguments/store-options.ts';
import { duration, flag, text, whole } from '../arguments/values.ts';
import type { Command, Invocation } from '../command.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import type { Output } from '../terminal/output.ts';
import { printable } from '../terminal/printable.ts';

const DEFAULT_LIMIT = 20;
const MAX_FILES = 10_000;

/** `surety check`. */
export const check: Command = {
  name: 'check',
  summary: 'Reads the histories of a run and reports what was lost, doubled or not fenced',
  takes: 'TRACE [TRACE ...]',
  words: { min: 1, max: MAX_FILES },
  options: {
    limit: { type: 'string', short: 'n', value: 'N', help: `show so many findings; ${DEFAULT_LIMIT}` },
    moves: {
      type: 'string',
      value: 'KIND',
      help: 'atomic or copy; what the traced backend says of itself when left out',
    },
    'reclaim-within': {
      type: 'string',
      value: 'TIME',
      help: 'workers always had room: a lost job must be claimed again in it',
    },
    'untraced-producers': { type: 'boolean', help: 'jobs that no trace enqueued are no finding' },
    ...JSON_OPTION,
  },
  details: [
    'A history is written by the option `trace` of workers and clients. Give all files of a run, of every process.',
    'Without the final state in one of them a lost job cannot be told from one that waits. Exit code 1: there are',
    'findings; 2: a file cannot be read or is no trace.',
  ],
  examples: [
    ['surety check traces/*.jsonl', 'of every process of a run'],
    ['surety check --reclaim-within 5s run.jsonl', 'a killed worker may cost five seconds'],
    ["surety check --json *.jsonl | jq '.account'", 'the account alone'],
  ],
  run: async (invocation) => {
    const { words, values, output } = invocation;
    const options = optionsOf(values);
    const limit = whole(values, 'limit', DEFAULT_LIMIT, 0, 1_000_000);
    const { accountLines, checkHistory } = await import('@surety/history');
    const report = await checkHistory(words, options);
    if (flag(values, 'json')) output.json(report);
    else output.print(...reportLines(report, limit, output), ...accountLines(report.account));
    return report.whole ? EXIT.ok : EXIT.no;
  },
};

function optionsOf(values: Invocation['values']): {
  readonly moves?: 'atomic' | 'copy';
  readonly reclaimWithinMs?: number;
  readonly untracedProducers: boolean;
} {
  const moves = text(values, 'moves');
  if (moves !== null && moves !== 'atomic' && moves !== 'copy')
    throw new UsageError('--moves takes atomic or copy.');
  const within = text(values, 'reclaim-within') === null ? null : duration(values, 'reclaim-within', 0);
  return {
    ...(moves === null ? {} : { moves }),
    ...(within === null ? {} : { reclaimWithinMs: within }),
    untracedProducers: flag(values, 'untraced-producers'),
  };
}

function reportLines(
  { findings, complete }: HistoryReport,
  limit: number,
  output: Output,
): readonly string[] {
  const verdict =
    findings.length === 0
      ? output.tone('good', 'Whole: nothing that the promises rule out.')
      : output.tone('bad', `${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}.`);
  const shown = findings.slice(0, limit).flatMap(findingLines);
  const more = findings.length > limit ? [`And ${findings.length - limit} more: raise --limit.`] : [];
  const final = complete
    ? []
    : [output.tone('warn', 'The final state was not recorded: lost jobs cannot be told from waiting ones.')];
  return [...shown, ...more, verdict, ...final, ''];
}

function findingLines({ kind, jobId, lines, what }: Finding): readonly string[] {
  return [
    `${kind}  ${printable(jobId ?? '')}`,
    `  ${printable(what)}`,
    ...lines.map((line) => `  ${printable(line)}`),
    '',
  ];
}
