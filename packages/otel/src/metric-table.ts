/** Name of an attribute of {@link ATTRIBUTES}. */
export type AttributeName =
  | 'messaging.system'
  | 'messaging.operation.name'
  | 'messaging.destination.name'
  | 'surety.job.type'
  | 'surety.job.state'
  | 'surety.job.outcome'
  | 'error.type'
  | 'surety.figure.kind'
  | 'surety.event_loop.blocked';

/** Counters: they only grow, and add up over processes. */
export type CounterName =
  | 'messaging.client.consumed.messages'
  | 'surety.job.attempts'
  | 'surety.job.deaths'
  | 'surety.lease.lost'
  | 'surety.queue.read.failures';
/** Histograms, which add up over processes too. */
export type HistogramName =
  | 'messaging.process.duration'
  | 'surety.job.end_attempt'
  | 'surety.job.wait.duration';
/** Gauges: each process that observes a queue reports the same store, so they do not add up. */
export type GaugeName =
  | 'surety.queue.depth'
  | 'surety.queue.oldest_ready_age'
  | 'surety.queue.leased'
  | 'surety.queue.dead_letters';
/** Name of a metric of {@link METRICS}. */
export type MetricName = CounterName | HistogramName | GaugeName;

/** One line of the table of attributes. */
export interface AttributeFacts {
  readonly values: string;
  readonly meaning: string;
}

/** One line of the table of metrics. */
export interface MetricFacts {
  /** A gauge is read from the store at each collection. */
  readonly kind: 'counter' | 'histogram' | 'gauge';
  /** UCUM, as OpenTelemetry writes units. */
  readonly unit: string;
  readonly meaning: string;
  readonly attributes: readonly AttributeName[];
  readonly from: 'observeWorker' | 'observeQueues';
  /** Upper bounds of a histogram's buckets, as a hint to the SDK. */
  readonly boundaries?: readonly number[];
}

type Lines<Name extends string, Kind extends MetricFacts['kind']> = {
  readonly [Key in Name]: MetricFacts & { readonly kind: Kind };
};
/** The table of metrics. */
export type MetricTable = Lines<CounterName, 'counter'> &
  Lines<HistogramName, 'histogram'> &
  Lines<GaugeName, 'gauge'>;

/** Attributes of the metrics. Names of OpenTelemetry's messaging conventions where there are any. */
export const ATTRIBUTES: Readonly<Record<AttributeName, AttributeFacts>> = {
  'messaging.system': {
    values: '`surety`',
    meaning: 'Required by the conventions on their own metrics.',
  },
  'messaging.operation.name': {
    values: '`handle`; of a read: `open`, `queues`, `counts`',
    meaning: 'What was done.',
  },
  'messaging.destination.name': {
    values: 'queue, or `_OTHER`',
    meaning: 'The queue. Beyond the limit of distinct queues (50 unless set) all others share one value.',
  },
  'surety.job.type': {
    values: 'type, or `_OTHER`',
    meaning:
      'The type of the job. Beyond the limit of distinct types (100 unless set) all others share one value.',
  },
  'surety.job.state': {
    values: '`ready`, `scheduled`',
    meaning: 'Due, or due later. The sum over both is the pending depth.',
  },
  'surety.job.outcome': {
    values: '`completed`, `cancelled`, `retried`, `dead`, `released`, `snoozed`, `lease-lost`, `unknown`',
    meaning: 'How the attempt ended, once the store has confirmed it. `unknown`: the answer was lost.',
  },
  'error.type': {
    values: 'an error code of Surety, the class of what the handler threw, `LEASE_LOST`, or `_OTHER`',
    meaning:
      'Why it failed, or was put back; absent when all was well. A class name that is no identifier is `_OTHER`, and so are all beyond the limit of distinct ones (30 unless set).',
  },
  'surety.figure.kind': {
    values: '`exact`, `approximate`, `lower-bound`, `upper-bound`',
    meaning: 'How far the figure can be believed, as the backend states it.',
  },
  'surety.event_loop.blocked': {
    values: '`true`, `false`',
    meaning: 'Whether the event loop of the worker had stood still since the lease was last known to hold.',
  },
};

/** Given by the conventions for `messaging.process.duration`. */
const SECONDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];
/** A job may wait for a pause of hours, which no run of a handler lasts. */
const WAIT_SECONDS: readonly number[] = [
  0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 86_400,
];
/** 8 is the default limit of attempts. */
const ATTEMPTS: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 20, 50];

const QUEUE = 'messaging.destination.name';
const TYPE = 'surety.job.type';

/** Every metric. The docs' table is generated from this one, the instruments are made of it. */
export const METRICS: MetricTable = {
  'messaging.process.duration': {
    kind: 'histogram',
    unit: 's',
    meaning: 'How long a handler ran. One record per attempt that was started, whatever its end.',
    attributes: ['messaging.system', 'messaging.operation.name', QUEUE, TYPE, 'error.type'],
    from: 'observeWorker',
    boundaries: SECONDS,
  },
  'messaging.client.consumed.messages': {
    kind: 'counter',
    unit: '{message}',
    meaning: 'Jobs that were given to a handler: attempts that were started.',
    attributes: ['messaging.system', 'messaging.operation.name', QUEUE, 'error.type'],
    from: 'observeWorker',
  },
  'surety.job.attempts': {
    kind: 'counter',
    unit: '{attempt}',
    meaning:
      'Attempts by outcome: the failure rate. Jobs that were settled without a start (expired, lost too often, of unknown type) count too.',
    attributes: [QUEUE, TYPE, 'surety.job.outcome', 'error.type'],
    from: 'observeWorker',
  },
  'surety.job.end_attempt': {
    kind: 'histogram',
    unit: '{attempt}',
    meaning:
      'At which attempt a job ended: completed, cancelled or dead. One record per job (per copy, where the backend moves jobs by copying). A redrive counts attempts anew.',
    attributes: [QUEUE, TYPE, 'surety.job.outcome'],
    from: 'observeWorker',
    boundaries: ATTEMPTS,
  },
  'surety.job.wait.duration': {
    kind: 'histogram',
    unit: 's',
    meaning:
      'How long a job had been ready when it was claimed, counted from its due time. One record per attempt that was started.',
    attributes: [QUEUE, TYPE],
    from: 'observeWorker',
    boundaries: WAIT_SECONDS,
  },
  'surety.job.deaths': {
    kind: 'counter',
    unit: '{job}',
    meaning: 'Jobs that this worker put into the dead letters, by whatever road.',
    attributes: [QUEUE, TYPE, 'error.type'],
    from: 'observeWorker',
  },
  'surety.lease.lost': {
    kind: 'counter',
    unit: '{lease}',
    meaning: 'Leases that ended while the job was held or running. Another worker gets the job.',
    attributes: [QUEUE, TYPE, 'surety.event_loop.blocked'],
    from: 'observeWorker',
  },
  'surety.queue.depth': {
    kind: 'gauge',
    unit: '{job}',
    meaning: 'Jobs that wait. A deep queue that drains is healthy: do not alert on this one.',
    attributes: [QUEUE, 'surety.job.state', 'surety.figure.kind'],
    from: 'observeQueues',
  },
  'surety.queue.oldest_ready_age': {
    kind: 'gauge',
    unit: 's',
    meaning:
      'How long the oldest ready job has been ready, counted from its due time; 0 when none is ready. Alert on this one.',
    attributes: [QUEUE, 'surety.figure.kind'],
    from: 'observeQueues',
  },
  'surety.queue.leased': {
    kind: 'gauge',
    unit: '{job}',
    meaning: 'Jobs that a worker holds.',
    attributes: [QUEUE, 'surety.figure.kind'],
    from: 'observeQueues',
  },
  'surety.queue.dead_letters': {
    kind: 'gauge',
    unit: '{job}',
    meaning: 'Dead letters that wait for somebody to redrive or discard them.',
    attributes: [QUEUE, 'surety.figure.kind'],
    from: 'observeQueues',
  },
  'surety.queue.read.failures': {
    kind: 'counter',
    unit: '{read}',
    meaning: 'Reads of the store that failed or came too late. While this grows, the gauges are blind.',
    attributes: ['messaging.operation.name', 'error.type'],
    from: 'observeQueues',
  },
};

for (const table of [METRICS, ATTRIBUTES]) {
  for (const facts of Object.values(table)) Object.freeze(facts);
  Object.freeze(table);
}
