interface MetricFacts {
  readonly unit: 'jobs/s' | 'ms' | 'us/job' | 'MB' | 'bytes/job' | 'requests/job';
  /** Which way is better, and so which way round a ratio goes. */
  readonly better: 'more' | 'less';
}

const RATE: MetricFacts = { unit: 'jobs/s', better: 'more' };

const NAMES = [
  'throughput',
  'twoProcesses',
  'endToEnd',
  'enqueueSingle',
  'enqueueSingle32',
  'enqueueBulk1000',
  'pickupP50',
  'pickupP99',
  'dueP50',
  'dueP95',
  'backlog10k',
  'backlog1M',
  'backlog1MFuture',
  'openTransaction',
  'cpu',
  'memory',
  'stored',
  'requests',
] as const;

/** Every figure that a run can have. */
export type Metric = (typeof NAMES)[number];

const METRICS: Readonly<Record<Metric, MetricFacts>> = {
  throughput: RATE,
  twoProcesses: RATE,
  endToEnd: RATE,
  enqueueSingle: RATE,
  enqueueSingle32: RATE,
  enqueueBulk1000: RATE,
  pickupP50: { unit: 'ms', better: 'less' },
  pickupP99: { unit: 'ms', better: 'less' },
  // After the due time.
  dueP50: { unit: 'ms', better: 'less' },
  dueP95: { unit: 'ms', better: 'less' },
  backlog10k: RATE,
  backlog1M: RATE,
  backlog1MFuture: RATE,
  openTransaction: RATE,
  // Of the workers, and of the server where it can be seen.
  cpu: { unit: 'us/job', better: 'less' },
  // The most that the worker process had.
  memory: { unit: 'MB', better: 'less' },
  // Room in the store per ready job, of whose bytes the payload is 200.
  stored: { unit: 'bytes/job', better: 'less' },
  // To send, receive and delete, where each is paid for.
  requests: { unit: 'requests/job', better: 'less' },
};

/** Figures of one run or medians of several. */
export type Values = Readonly<Partial<Record<Metric, number>>>;

/** The metrics that `values` has, in a fixed order. */
export function metricsOf(values: Values): readonly Metric[] {
  return NAMES.filter((metric) => values[metric] !== undefined);
}

/** Ours over a peer's in terms of speed: above 1 ours is better, for figures of which less is better too. */
export function ratioOf(metric: Metric, ours: number, peer: number): number {
  return METRICS[metric].better === 'more' ? ours / peer : peer / ours;
}

export function formatValue(metric: Metric, value: number): string {
  const { unit } = METRICS[metric];
  const digits = unit === 'requests/job' ? 3 : unit === 'ms' || unit === 'us/job' ? 1 : 0;
  const number = value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${number} ${unit}`;
}
