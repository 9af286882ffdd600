import { setTimeout as pause } from 'node:timers/promises';
import type { QueueCounts } from '@surety/core/contract';
import { JSON_OPTION, QUEUE_OPTION, STORE_OPTIONS } from '../arguments/store-options.ts';
import { duration, flag, queueOption, text } from '../arguments/values.ts';
import type { Command, Invocation } from '../command.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { type OpenStore, withStore } from '../stores/open-store.ts';
import { queuesOf } from '../stores/queues-of.ts';
import type { Output } from '../terminal/output.ts';
import { figure, legend, spellMs } from '../terminal/spell.ts';
import { type Column, tableLines } from '../terminal/table.ts';

/** `surety status`. */
export const status: Command = {
  name: 'status',
  summary: 'What is where: jobs by queue and state, and how long the oldest ready one has waited',
  takes: '',
  words: { min: 0, max: 0 },
  options: {
    ...QUEUE_OPTION,
    watch: { type: 'boolean', short: 'w', help: 'show it again and again, until Ctrl-C' },
    every: { type: 'string', value: 'TIME', help: 'with --watch: time between two looks; 2s' },
    ...JSON_OPTION,
    ...STORE_OPTIONS,
  },
  details: [
    'A figure that is not exact is marked: ~ approximate, >= at least, <= at most, ? not to be had. The age counts from',
    'when the job became due, and is the figure to alert on: a deep queue that drains is healthy. With --json every',
    'figure is { value, kind }; with --watch --json each look is one line.',
  ],
  examples: [
    ['surety status', 'every queue'],
    ['surety status --queue mail --json', 'one queue, for a program'],
    ['surety status --watch --every 5s', 'a look every five seconds'],
  ],
  run: (invocation) => {
    const { values } = invocation;
    if (text(values, 'every') !== null && !flag(values, 'watch'))
      throw new UsageError('--every belongs to --watch.');
    const queue = queueOption(values);
    const everyMs = duration(values, 'every', 2000);
    return withStore(invocation, (store) =>
      flag(values, 'watch') ? watch(store, queue, everyMs, invocation) : once(store, queue, invocation),
    );
  },
};

interface QueueStatus extends QueueCounts {
  readonly queue: string;
  readonly paused: boolean;
}

const COLUMNS: readonly Column[] = [
  { title: 'QUEUE', flush: 'left' },
  { title: 'READY', flush: 'right' },
  { title: 'SCHEDULED', flush: 'right' },
  { title: 'LEASED', flush: 'right' },
  { title: 'DEAD', flush: 'right' },
  { title: 'OLDEST READY', flush: 'right' },
  { title: '', flush: 'left' },
];

async function once(store: OpenStore, queue: string | null, { values, output }: Invocation): Promise<number> {
  const queues = await look(store, queue);
  if (flag(values, 'json')) output.json({ store: store.shown, queues });
  else output.print(...statusLines(queues, store.shown, output));
  return EXIT.ok;
}

/** A look that fails is told, and the next one tries anew: a store that comes back is seen again. */
async function watch(
  store: OpenStore,
  queue: string | null,
  everyMs: number,
  { values, output }: Invocation,
): Promise<number> {
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  while (!stopped.signal.aborted) {
    const at = new Date().toISOString();
    try {
      const queues = await look(store, queue);
      if (flag(values, 'json')) output.json({ at, store: store.shown, queues }, 'line');
      else {
        output.clear();
        output.print(`${at}  ${store.shown}`, ...statusLines(queues, store.shown, output), '');
      }
    } catch (error) {
      output.error(`${at} ${store.shown}: ${error instanceof Error ? error.message : String(error)}`);
    }
    await pause(everyMs, undefined, { signal: stopped.signal }).catch(() => undefined);
  }
  return EXIT.ok;
}

async function look(store: OpenStore, named: string | null): Promise<readonly QueueStatus[]> {
  const { backend, call } = store;
  const found: QueueStatus[] = [];
  for (const queue of await queuesOf(store, named)) {
    const [counts, { paused }] = await Promise.all([
      backend.counts(queue, call),
      backend.pacing.state(queue, call),
    ]);
    found.push({ queue, paused, ...counts });
  }
  return found;
}

function statusLines(queues: readonly QueueStatus[], shown: string, output: Output): readonly string[] {
  if (queues.length === 0) return [`No queue of ${shown} holds a job or is paused.`];
  const rows = queues.map(({ queue, paused, ready, scheduled, leased, dead, oldestReadyAgeMs }) => [
    queue,
    figure(ready),
    figure(scheduled),
    figure(leased),
    dead.value === 0 ? figure(dead) : ({ text: figure(dead), tone: 'bad' } as const),
    figure(oldestReadyAgeMs, spellMs),
    paused ? ({ text: 'paused', tone: 'warn' } as const) : '',
  ]);
  const marks = legend(
    queues.flatMap(({ ready, scheduled, leased, dead, oldestReadyAgeMs }) => [
      ready,
      scheduled,
      leased,
      dead,
      oldestReadyAgeMs,
    ]),
  );
  return [...tableLines(COLUMNS, rows, output), ...(marks === null ? [] : [output.tone('faint', marks)])];
}
