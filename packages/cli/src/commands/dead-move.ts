import type { DiscardOutcome, RedriveOutcome } from '@surety/core/contract';
import { JSON_OPTION, QUEUE_OPTION, STORE_OPTIONS, YES_OPTION } from '../arguments/store-options.ts';
import { flag } from '../arguments/values.ts';
import type { Command, Invocation, Options } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { type Found, findSelected, selectionOf } from '../stores/dead-selection.ts';
import { type OpenStore, withStore } from '../stores/open-store.ts';
import { confirm, requireAnswer } from '../terminal/confirm.ts';

type Verb = 'redrive' | 'discard';

interface Moved {
  readonly queue: string;
  readonly outcome: RedriveOutcome | DiscardOutcome;
}

const OPTIONS: Options = {
  ...QUEUE_OPTION,
  type: { type: 'string', short: 't', value: 'T', help: 'all dead letters of this type' },
  all: { type: 'boolean', help: 'all dead letters' },
  ...YES_OPTION,
  ...JSON_OPTION,
  ...STORE_OPTIONS,
};
const DONE = { redrive: 'redriven', discard: 'discarded' } as const;
const WORDS = { min: 0, max: Number.MAX_SAFE_INTEGER };
const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

/** `surety dead redrive`. */
export const redrive: Command = {
  name: 'dead redrive',
  summary: 'Makes dead letters ready again, with their id, key and history; attempts start anew',
  takes: '[ID ...]',
  words: WORDS,
  options: OPTIONS,
  details: [
    'Name ids, --type or --all; the last two ask first. What dies while the command runs is left alone. Exit code 1: one',
    'was not found, or a live job holds its dedupe key, so that it stays dead; or you declined.',
  ],
  examples: [
    [`surety dead redrive ${ID}`, 'one, or several'],
    ['surety dead redrive --type receipt.send --queue mail', 'those of a type, after a question'],
    ['surety dead redrive --all --yes', 'all of every queue, in a script'],
  ],
  run: (invocation) => move('redrive', invocation),
};

/** `surety dead discard`. */
export const discard: Command = {
  name: 'dead discard',
  summary: 'Removes dead letters for good',
  takes: '[ID ...]',
  words: WORDS,
  options: OPTIONS,
  details: ['Always asks first. Exit code 1: one was not found, or you declined.'],
  examples: [
    [`surety dead discard ${ID}`, 'one, or several, after a question'],
    ['surety dead discard --all --queue mail', 'all of one queue, after a question'],
    ['surety dead discard --type receipt.send --yes', 'those of a type, in a script'],
  ],
  run: (invocation) => move('discard', invocation),
};

async function move(verb: Verb, invocation: Invocation): Promise<number> {
  const { values, output } = invocation;
  const selection = selectionOf(invocation);
  const yes = flag(values, 'yes') || (verb === 'redrive' && selection.ids.length > 0);
  requireAnswer(yes, `dead ${verb}`);
  return withStore(invocation, async (store) => {
    const found = await findSelected(store, selection);
    if (found.byQueue.size > 0 && !(await confirm(questionOf(verb, found, store.shown), yes))) {
      output.aside('Declined; nothing was changed.');
      return EXIT.no;
    }
    const moved = await moveAll(verb, store, found);
    tell(verb, moved, found.missing, invocation);
    const refused = moved.some(({ outcome }) => outcome.status !== DONE[verb]);
    return refused || found.missing.length > 0 ? EXIT.no : EXIT.ok;
  });
}

function questionOf(verb: Verb, { byQueue }: Found, shown: string): string {
  const queues = [...byQueue].map(([queue, ids]) => `${ids.length} of ${queue}`).join(', ');
  const how = verb === 'discard' ? 'Discard for good' : 'Redrive';
  return `${how} dead letters of ${shown}: ${queues}?`;
}

async function moveAll(
  verb: Verb,
  { backend, call }: OpenStore,
  { byQueue }: Found,
): Promise<readonly Moved[]> {
  const moved: Moved[] = [];
  const size = backend.capabilities.batch.maxItems;
  for (const [queue, all] of byQueue) {
    for (let from = 0; from < all.length; from += size) {
      const ids = all.slice(from, from + size);
      const outcomes = await backend.deadLetters[verb](queue, { ids }, call);
      moved.push(...outcomes.map((outcome) => ({ queue, outcome })));
    }
  }
  return moved;
}

function tell(
  verb: Verb,
  moved: readonly Moved[],
  missing: readonly string[],
  { values, output }: Invocation,
): void {
  const done = moved.filter(({ outcome }) => outcome.status === DONE[verb]).length;
  const outcomes = [
    ...moved.map(({ queue, outcome }) => ({ queue, ...outcome })),
    ...missing.map((id) => ({ queue: null, status: 'not-found' as const, id })),
  ];
  if (flag(values, 'json')) return output.json({ [DONE[verb]]: done, outcomes });
  output.print(`${DONE[verb]} ${done}`);
  for (const { outcome } of moved) {
    if (outcome.status === 'conflict')
      output.aside(`${outcome.id} stays dead: the job ${outcome.of} holds its dedupe key.`);
    if (outcome.status === 'not-found') output.aside(`${outcome.id} is no dead letter any more.`);
  }
  for (const id of missing) output.aside(`${id} is no dead letter.`);
}
