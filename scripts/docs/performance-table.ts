import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Report {
  readonly backend: string;
  readonly date: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memory: number;
    readonly os: string;
  };
  readonly versions: Readonly<Record<string, string>>;
  readonly options: { readonly rounds: number; readonly warmUp?: number };
  readonly ratios: readonly Ratio[];
  readonly costs?: readonly { readonly of: string; readonly concurrency: number; readonly cost: number }[];
}

interface Ratio {
  readonly peer: string;
  readonly concurrency: number;
  readonly metric: string;
  readonly ratio: number;
}

/** Names of stores as they write themselves. */
const STORES: Readonly<Record<string, string>> = {
  postgres: 'PostgreSQL',
  redis: 'Redis',
  rabbitmq: 'RabbitMQ',
  sqs: 'SQS',
};

/** In this order. Those with `each` have a row for each concurrency; the others one, for the highest that each store was asked at. */
const ROWS: readonly { readonly metric: string; readonly title: string; readonly each?: true }[] = [
  { metric: 'throughput', title: 'work off a queue', each: true },
  { metric: 'twoProcesses', title: 'the same with two worker processes' },
  { metric: 'endToEnd', title: 'produce and work at once' },
  { metric: 'backlog1M', title: 'work off a part of 1M jobs' },
  { metric: 'backlog1MFuture', title: 'work off a queue beside 1M scheduled jobs' },
  { metric: 'openTransaction', title: 'work off a long queue beside an old open transaction' },
  { metric: 'enqueueSingle', title: 'enqueue, one call at a time' },
  { metric: 'enqueueSingle32', title: 'enqueue, 32 calls in flight' },
  { metric: 'enqueueBulk1000', title: 'enqueue, 1,000 jobs a call' },
  { metric: 'pickupP50', title: 'an idle worker starts a job, median' },
  { metric: 'pickupP99', title: 'an idle worker starts a job, 99 of 100' },
  { metric: 'cpu', title: 'CPU of worker and server per job' },
  { metric: 'memory', title: 'memory of the worker' },
  { metric: 'stored', title: 'room in the store per job' },
];

/** Surety over its best peer for every figure, from the reports in `folder`. A store without a peer has no column. */
export function performanceTable(folder: string): string {
  const reports = readReports(folder).filter(({ ratios }) => ratios.length > 0);
  if (reports.length === 0) return 'No report is there yet: `npm run bench -- postgres` makes one.';
  const head = ['', ...reports.map(({ backend }) => STORES[backend] ?? backend)];
  const rows = ROWS.flatMap(({ metric, title, each }) => {
    const known = reports.flatMap(({ ratios }) => ratios).filter((ratio) => ratio.metric === metric);
    const all = [...new Set(known.map(({ concurrency }) => concurrency))].sort((a, b) => a - b);
    if (each !== true && all.length > 0)
      return [[title, ...reports.map((report) => cell(highest(report, metric)))]];
    return all.map((concurrency) => [
      `${title}, ${concurrency} at a time`,
      ...reports.map(({ ratios }) =>
        cell(ratios.filter((ratio) => ratio.metric === metric && ratio.concurrency === concurrency)),
      ),
    ]);
  });
  return [
    ...[head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`),
    '',
    'Surety over the best of its peers in each line, in terms of speed or thrift: above 1 is better.',
    ...reports.map(origin),
  ].join('\n');
}

function highest({ ratios }: Report, metric: string): readonly Ratio[] {
  const own = ratios.filter((ratio) => ratio.metric === metric);
  const most = Math.max(...own.map(({ concurrency }) => concurrency));
  return own.filter(({ concurrency }) => concurrency === most);
}

/** The peer that is hardest to beat there. */
function cell(ratios: readonly Ratio[]): string {
  const [first, ...others] = ratios;
  if (first === undefined) return '';
  const best = others.reduce((hardest, ratio) => (ratio.ratio < hardest.ratio ? ratio : hardest), first);
  return `${best.ratio.toFixed(2)} × ${best.peer}`;
}

/** Of reports that do not say it. */
const WARM_UP_BEFORE = 5000;

function origin(report: Report): string {
  const { backend, date, machine, versions, options, costs = [] } = report;
  const named = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const gigabytes = Math.round(machine.memory / 2 ** 30);
  const prices = costs.map(
    ({ of, concurrency, cost }) => `${of} ${cost.toFixed(2)} times (${concurrency} at a time)`,
  );
  return [
    `${STORES[backend] ?? backend}: ${date.slice(0, 10)}, ${machine.cores} cores of ${machine.cpu}, ${gigabytes} GB, ${machine.os};`,
    `medians of ${options.rounds} rounds, warm after ${(options.warmUp ?? WARM_UP_BEFORE).toLocaleString('en')} jobs; ${named.join(', ')}.`,
    ...(prices.length > 0 ? [`What it costs Surety itself: ${prices.join(', ')}.`] : []),
  ].join(' ');
}

function readReports(folder: string): readonly Report[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Report);
}
