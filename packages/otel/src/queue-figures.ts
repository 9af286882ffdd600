import type { Attributes } from '@opentelemetry/api';
import type { Count, QueueCounts } from '@surety/core/contract';
import type { BoundedNames } from './bounded-names.ts';
import type { GaugeName } from './metric-table.ts';
import type { Reading } from './queue-reader.ts';

/** One value of one time series. */
export interface Figure {
  readonly metric: GaugeName;
  readonly attributes: Attributes;
  readonly value: number;
}

interface Source {
  readonly metric: GaugeName;
  readonly state: 'ready' | 'scheduled' | null;
  readonly count: (counts: QueueCounts) => Count;
  /** Null: not to be had. */
  readonly value: (count: Count) => number | null;
  /** Of several queues that share a label. */
  readonly merge: (left: number, right: number) => number;
}

const jobs = (count: Count): number | null => count.value;
/** No age says that no job is ready, which is a figure too: an alert has to see it to end. */
const seconds = (count: Count): number => (count.value ?? 0) / 1000;
const sum = (left: number, right: number): number => left + right;

const SOURCES: readonly Source[] = [
  { metric: 'surety.queue.depth', state: 'ready', count: ({ ready }) => ready, value: jobs, merge: sum },
  {
    metric: 'surety.queue.depth',
    state: 'scheduled',
    count: ({ scheduled }) => scheduled,
    value: jobs,
    merge: sum,
  },
  { metric: 'surety.queue.leased', state: null, count: ({ leased }) => leased, value: jobs, merge: sum },
  { metric: 'surety.queue.dead_letters', state: null, count: ({ dead }) => dead, value: jobs, merge: sum },
  {
    metric: 'surety.queue.oldest_ready_age',
    state: null,
    count: ({ oldestReadyAgeMs }) => oldestReadyAgeMs,
    value: seconds,
    merge: Math.max,
  },
];

/** The figures of a reading, each by the key of its time series. Figures of different kinds are never added up. */
export function figuresOf(
  reading: Reading,
  queues: BoundedNames,
  constant: Attributes,
): ReadonlyMap<string, Figure> {
  const figures = new Map<string, Figure>();
  for (const [name, counts] of reading) {
    const queue = queues.label(name);
    for (const source of SOURCES) addFigure(figures, source, queue, source.count(counts), constant);
  }
  return figures;
}

function addFigure(
  figures: Map<string, Figure>,
  { metric, state, value: valueOf, merge }: Source,
  queue: string,
  count: Count,
  constant: Attributes,
): void {
  if (count.kind === 'none') return;
  const value = valueOf(count);
  if (value === null) return;
  const key = `${metric} ${queue} ${state} ${count.kind}`;
  const known = figures.get(key);
  const attributes = known?.attributes ?? {
    ...constant,
    'messaging.destination.name': queue,
    ...(state === null ? {} : { 'surety.job.state': state }),
    'surety.figure.kind': count.kind,
  };
  figures.set(key, {
    metric,
    attributes,
    value: known === undefined ? value : merge(known.value, value),
  });
}
