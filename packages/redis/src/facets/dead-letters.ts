import {
  type CallOptions,
  type DeadLetter,
  type DeadLetterPage,
  type DeadLetters,
  type DeadSelection,
  type DiscardOutcome,
  JOB_ID,
  type RedriveOutcome,
} from '@surety/core/contract';
import { type Context, failure, startCall } from '../context.ts';
import type { Call } from '../deadline.ts';
import { toDeadLetter } from '../job-view.ts';
import { SCRIPTS } from '../script.ts';

/** How much one call moves or removes at most; the caller repeats it. */
const MOST_A_CALL = 1000;
/** Bounds of one step of a script: some milliseconds of the server's time. */
const LOOKS_A_STEP = 500;
const MOVES_A_STEP = 50;

/** Where a listing ended: by time of death in microseconds, then by id. */
interface Place {
  readonly at: string;
  readonly id: string;
}

/** G6.1 to G6.5. */
export function createDeadLetters(context: Context): DeadLetters {
  return {
    list: ({ queue, limit, cursor, type }, options) =>
      listPage(context, queue, most(limit), cursor, type, startCall('deadLetters', options)),
    async show(queue, id, options) {
      if (!JOB_ID.test(id)) return null;
      const { keys } = context.queues.of(queue);
      const call = startCall('deadLetters', options);
      const reply = await context.connection.ask(SCRIPTS.lookup, keys.lookup, [id], call);
      const [state, body = '', counters = '', errors = '', , now, diedAt] = reply as (string | undefined)[];
      if (state !== 'dead') return null;
      return toDeadLetter({ id, queue, body, counters, errors, now: Number(now) }, Number(diedAt));
    },
    redrive: (queue, selection, options) => redrive(context, queue, selection, options),
    discard: (queue, selection, options) => discard(context, queue, selection, options),
  };
}

async function listPage(
  context: Context,
  queue: string,
  limit: number,
  cursor: string | null,
  type: string | null,
  call: Call,
): Promise<DeadLetterPage> {
  const entries: DeadLetter[] = [];
  let place: Place | null = parseCursor(cursor);
  do {
    const step = await look(context, queue, limit - entries.length, type, place, false, call);
    for (let at = 0; at + 4 < step.values.length; at += 5) {
      const [id = '', died, body = '', counters = '', errors = ''] = step.values.slice(at, at + 5);
      const shown = { id, queue, body, counters, errors, now: step.now };
      entries.push(toDeadLetter(shown, Math.floor(Number(died) / 1000)));
    }
    place = step.end;
  } while (place !== null && entries.length < limit);
  return { entries, cursor: place === null ? null : `${place.at}.${place.id}` };
}

interface Step {
  readonly values: readonly string[];
  readonly end: Place | null;
  readonly now: number;
}

/** One bounded step through the list, newest first. */
async function look(
  context: Context,
  queue: string,
  limit: number,
  type: string | null,
  from: Place | null,
  idsAlone: boolean,
  call: Call,
): Promise<Step> {
  const { keys } = context.queues.of(queue);
  const values = [limit, LOOKS_A_STEP, type ?? '', from?.at ?? '', from?.id ?? '', idsAlone ? 1 : 0];
  const reply = (await context.connection.ask(SCRIPTS.deadList, keys.deadList, values, call)) as string[];
  const [at = '', id = '', now, ...found] = reply;
  return { values: found, end: at === '' ? null : { at, id }, now: Number(now) };
}

async function redrive(
  context: Context,
  queue: string,
  selection: DeadSelection,
  options: CallOptions,
): Promise<readonly RedriveOutcome[]> {
  const call = startCall('redrive', options);
  if ('ids' in selection) return redriveIds(context, queue, selection.ids, call);
  let place: Place | null = null;
  do {
    const step = await look(context, queue, most(selection.limit), selection.type, place, true, call);
    const outcomes = await redriveIds(context, queue, step.values, call);
    // Another operator may have been faster with all of these: then there may be more.
    const done = outcomes.filter(({ status }) => status !== 'not-found');
    if (done.length > 0) return done;
    place = step.end;
  } while (place !== null);
  return [];
}

async function redriveIds(
  context: Context,
  queue: string,
  ids: readonly string[],
  call: Call,
): Promise<RedriveOutcome[]> {
  const { keys } = context.queues.of(queue);
  const answers = await inSteps(ids, (some) =>
    context.connection.ask(SCRIPTS.redrive, keys.redrive, some, call),
  );
  return ids.map((id, index) => {
    const answer = ids.indexOf(id) === index ? (answers.get(id) ?? '-') : '-';
    if (answer === '-') return { status: 'not-found', id };
    return answer === '' ? { status: 'redriven', id } : { status: 'conflict', id, of: answer as string };
  });
}

async function discard(
  context: Context,
  queue: string,
  selection: DeadSelection,
  options: CallOptions,
): Promise<readonly DiscardOutcome[]> {
  const call = startCall('discard', options);
  const { keys } = context.queues.of(queue);
  const remove = (ids: readonly string[]): Promise<Map<string, unknown>> =>
    inSteps(ids, (some) => context.connection.ask(SCRIPTS.discard, keys.discard, some, call));
  if ('ids' in selection) {
    const gone = await remove(selection.ids);
    return selection.ids.map((id, index) => ({
      status: gone.get(id) === 1 && selection.ids.indexOf(id) === index ? 'discarded' : 'not-found',
      id,
    }));
  }
  let place: Place | null = null;
  do {
    const step = await look(context, queue, most(selection.limit), selection.type, place, true, call);
    const gone = await remove(step.values);
    const done = step.values.filter((id) => gone.get(id) === 1);
    if (done.length > 0) return done.map((id) => ({ status: 'discarded', id }));
    place = step.end;
  } while (place !== null);
  return [];
}

/** The answers of a script to some hundred ids at a time, by id. */
async function inSteps(
  ids: readonly string[],
  ask: (some: readonly string[]) => Promise<unknown>,
): Promise<Map<string, unknown>> {
  const sound = [...new Set(ids.filter((id) => JOB_ID.test(id)))];
  const answers = new Map<string, unknown>();
  for (let at = 0; at < sound.length; at += MOVES_A_STEP) {
    const some = sound.slice(at, at + MOVES_A_STEP);
    const reply = (await ask(some)) as unknown[];
    for (const [index, id] of some.entries()) answers.set(id, reply[index]);
  }
  return answers;
}

function most(limit: number): number {
  return Math.max(1, Math.min(Math.trunc(limit), MOST_A_CALL));
}

function parseCursor(cursor: string | null): Place | null {
  if (cursor === null) return null;
  const [at, id] = cursor.split('.');
  if (at === undefined || id === undefined || !/^\d{1,17}$/.test(at) || !JOB_ID.test(id)) {
    throw failure('OPTIONS_INVALID', 'The cursor is not one that a listing gave.', 'deadLetters');
  }
  return { at, id };
}
