import type { DeadLetter } from '@surety/core/contract';
import { JSON_OPTION, QUEUE_OPTION, STORE_OPTIONS } from '../arguments/store-options.ts';
import { flag, queueOption, typeOption, whole } from '../arguments/values.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { deadLettersOf } from '../stores/dead-letters.ts';
import { type OpenStore, withStore } from '../stores/open-store.ts';
import { queuesOf } from '../stores/queues-of.ts';
import type { Output } from '../terminal/output.ts';
import { clipped, printable } from '../terminal/printable.ts';
import { type Column, tableLines } from '../terminal/table.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 10_000;

/** `surety dead list`. */
export const deadList: Command = {
  name: 'dead list',
  summary: 'Dead letters, newest first where the store can tell, with their last error',
  takes: '',
  words: { min: 0, max: 0 },
  options: {
    ...QUEUE_OPTION,
    type: { type: 'string', short: 't', value: 'T', help: 'only jobs of this type' },
    limit: { type: 'string', short: 'n', value: 'N', help: `at most so many of a queue; ${DEFAULT_LIMIT}` },
    ...JSON_OPTION,
    ...STORE_OPTIONS,
  },
  details: ['Listing moves and hides nothing. The JSON holds payloads and histories too.'],
  examples: [
    ['surety dead list', 'of every queue'],
    ['surety dead list --queue mail --type receipt.send -n 500', 'of one type'],
    ["surety dead list --json | jq -r '.dead[].id'", 'the ids alone'],
  ],
  run: (invocation) => {
    const { values, output } = invocation;
    const queue = queueOption(values);
    const type = typeOption(values);
    const limit = whole(values, 'limit', DEFAULT_LIMIT, 1, MAX_LIMIT);
    return withStore(invocation, async (store) => {
      const { dead, more } = await collect(store, queue, type, limit);
      if (flag(values, 'json')) output.json({ store: store.shown, dead, more });
      else output.print(...listLines(dead, more, output));
      return EXIT.ok;
    });
  },
};

interface Collected {
  readonly dead: readonly DeadLetter[];
  /** Queues that hold more than were asked for. */
  readonly more: readonly string[];
}

async function collect(
  store: OpenStore,
  named: string | null,
  type: string | null,
  limit: number,
): Promise<Collected> {
  const dead: DeadLetter[] = [];
  const more: string[] = [];
  for (const queue of await queuesOf(store, named)) {
    const found: DeadLetter[] = [];
    for await (const letter of deadLettersOf(store, queue, type, limit + 1)) found.push(letter);
    if (found.length > limit) more.push(queue);
    dead.push(...found.slice(0, limit));
  }
  return { dead, more };
}

const COLUMNS: readonly Column[] = [
  { title: 'ID', flush: 'left' },
  { title: 'QUEUE', flush: 'left' },
  { title: 'TYPE', flush: 'left' },
  { title: 'DIED', flush: 'left' },
  { title: 'ATTEMPTS', flush: 'right' },
  { title: 'REASON', flush: 'left' },
  { title: 'ERROR', flush: 'left' },
];
/** An error gets what is left of the line, and this at least. */
const ERROR_WIDTH = 24;

function listLines(dead: readonly DeadLetter[], more: readonly string[], output: Output): readonly string[] {
  if (dead.length === 0) return ['No dead letters.'];
  const rows = dead.map(({ id, queue, type, deadAt, attempt, reason }) => [
    id,
    queue,
    type,
    deadAt.slice(0, 19).replace('T', ' '),
    String(attempt),
    printable(reason),
  ]);
  const used = tableLines(COLUMNS, rows, { tone: (_, text) => text }).reduce(
    (width, line) => Math.max(width, line.length),
    0,
  );
  const room = Math.max(ERROR_WIDTH, output.columns - used - 2);
  const withErrors = rows.map((row, index) => [...row, clipped(errorOf(dead[index]), room)]);
  const hint = more.length === 0 ? [] : [`More in ${more.join(', ')}: raise --limit.`];
  return [...tableLines(COLUMNS, withErrors, output), ...hint];
}

function errorOf(letter: DeadLetter | undefined): string {
  const error = letter?.lastError ?? null;
  return error === null ? '' : `${error.name}: ${error.message}`;
}
