import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Capabilities, Count } from '@surety/core';

/** Columns, in this order; a backend without a report has its seat already. */
const BACKENDS = ['memory', 'sqlite', 'postgres', 'redis', 'rabbitmq', 'sqs'];
const MIB = 1024 * 1024;

const ROWS: Readonly<Record<string, (capabilities: Capabilities) => string>> = {
  'what an accepted job survives': ({ durability }) =>
    typeof durability === 'string'
      ? SURVIVES[durability]
      : `the loss of a machine (${durability.replicated} copies)`,
  'copies of a job': ({ moves }) =>
    moves === 'atomic' ? 'one, ever' : 'two after a fault between copy and settle',
  'who may share the store': ({ sessions }) => sessions.replaceAll('-', ' '),
  'longest delay': ({ delay }) => duration(delay.maxMs),
  'lease from, to': ({ lease }) => `${duration(lease.minMs)}, ${duration(lease.maxMs)}`,
  'a dead worker is noticed': ({ lease }) =>
    `${lease.endsBy === 'time' ? 'at the end of its lease' : 'when its connection is lost, or at the end of its lease'}, and ${duration(lease.reclaimBoundMs)} at most`,
  attempts: ({ attempts }) => attempts.replace('-', ' '),
  fence: ({ fence }) => fence,
  'enqueue again by id': ({ idempotentEnqueue }) =>
    idempotentEnqueue === 'none' ? 'stores it twice' : 'harmless while it is stored',
  'dedupe key, longest window': ({ dedupe }) => (dedupe === 'none' ? 'none' : duration(dedupe.maxWindowMs)),
  'enqueue in your transaction': ({ transactional }) => yes(transactional),
  'levels of priority': ({ priority }) => (priority === 'none' ? 'none' : String(priority.levels)),
  'maximum depth': ({ maxDepth }) => maxDepth,
  'counts of jobs': ({ counts }) => [...new Set(Object.values(counts))].join(', '),
  'age of the oldest job': ({ oldestReadyAge }) => oldestReadyAge satisfies Count['kind'],
  'find a job by id': ({ lookup }) => yes(lookup),
  'dead letters kept': ({ deadLetters }) =>
    deadLetters.retentionMs === null ? 'until discarded' : duration(deadLetters.retentionMs),
  'waiting jobs kept': ({ retentionMs }) => (retentionMs === null ? 'for ever' : duration(retentionMs)),
  'a pause holds everywhere after': ({ pacing }) => duration(pacing.boundMs),
  'largest job': ({ payload }) => `${payload.maxBytes / MIB} MiB`,
  'calls of an idle worker, a minute and queue': ({ idleOperationsPerMinute }) =>
    String(idleOperationsPerMinute),
};

const SURVIVES = {
  memory: 'nothing: gone with the process',
  'process-crash': 'the end of any process',
  fsync: 'power loss',
} as const;

/** What each backend states, from the reports of the conformance suite, which has proven it. */
export function capabilityTable(root: string): string {
  const stated = BACKENDS.map((name) => capabilitiesOf(join(root, 'reports/conformance', `${name}.json`)));
  const rows = Object.entries(ROWS).map(([title, show]) => [
    title,
    ...stated.map((capabilities) => (capabilities === null ? '' : show(capabilities))),
  ]);
  const head = ['', ...BACKENDS];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function capabilitiesOf(file: string): Capabilities | null {
  if (!existsSync(file)) return null;
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly capabilities: Capabilities }).capabilities;
}

function duration(ms: number): string {
  for (const [unit, length] of [
    ['days', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1000],
  ] as const) {
    const amount = ms / length;
    if (amount >= 1) return `${Number(amount.toFixed(1))} ${amount === 1 && unit === 'days' ? 'day' : unit}`;
  }
  return `${ms} ms`;
}

function yes(is: boolean): string {
  return is ? 'yes' : 'no';
}
