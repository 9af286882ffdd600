import type {
  CallOptions,
  DeadLetters,
  DeadSelection,
  DiscardOutcome,
  RedriveOutcome,
} from '@surety/core/contract';
import { JOB_ID } from '@surety/core/contract';
import type { Row } from '../connection.ts';
import { type Context, failure, startCall } from '../context.ts';
import { toDeadLetter } from '../job-view.ts';
import { plainArray } from '../sql.ts';

/** How much one call moves or removes at most; the caller repeats it. */
const MOST_A_CALL = 1000;

/** G6.1 to G6.5. */
export function createDeadLetters(context: Context): DeadLetters {
  const { sql } = context;
  return {
    async list({ queue, limit, cursor, type }, options) {
      const [at, id] = parseCursor(cursor);
      const most = Math.max(1, Math.min(Math.trunc(limit), MOST_A_CALL));
      const { rows } = await context.connections.ask(
        sql.deadList,
        [queue, type, most + 1, at, id],
        startCall('deadLetters', options),
      );
      const page = rows.slice(0, most);
      const last = page.at(-1);
      return {
        entries: page.map(toDeadLetter),
        cursor: rows.length > most && last !== undefined ? formatCursor(last) : null,
      };
    },
    async show(queue, id, options) {
      if (!JOB_ID.test(id)) return null;
      const { rows } = await context.connections.ask(
        sql.deadShow,
        [queue, id],
        startCall('deadLetters', options),
      );
      return rows[0] === undefined ? null : toDeadLetter(rows[0]);
    },
    redrive: (queue, selection, options) => redrive(context, queue, selection, options),
    discard: (queue, selection, options) => discard(context, queue, selection, options),
  };
}

async function redrive(
  context: Context,
  queue: string,
  selection: DeadSelection,
  options: CallOptions,
): Promise<readonly RedriveOutcome[]> {
  const { connections, sql } = context;
  const call = startCall('redrive', options);
  if ('ids' in selection) return redriveIds(context, queue, selection.ids, options);
  for (;;) {
    const { rows } = await connections.ask(
      sql.redrivePick,
      [queue, selection.type, most(selection.limit)],
      call,
    );
    const left = { timeoutMs: call.deadline - performance.now() };
    const outcomes = await redriveIds(
      context,
      queue,
      rows.map(({ id }) => id as string),
      left,
    );
    const done = outcomes.filter(({ status }) => status !== 'not-found');
    // Another operator was faster with all of them: there may be more.
    if (done.length > 0 || outcomes.length === 0) return done;
  }
}

async function redriveIds(
  context: Context,
  queue: string,
  ids: readonly string[],
  options: CallOptions,
): Promise<RedriveOutcome[]> {
  const sound = [...new Set(ids.filter((id) => JOB_ID.test(id)))];
  const found = new Map<string, string | null>();
  if (sound.length > 0) {
    const values = [queue, plainArray(sound), context.channel, context.mayNotify];
    const { rows } = await context.connections.ask(
      context.sql.redriveIds,
      values,
      startCall('redrive', options),
    );
    for (const { id, holder } of rows) found.set(id as string, holder as string | null);
    context.queues.of(queue).floor.reset();
  }
  return ids.map((id, index) => {
    const holder = found.get(id);
    if (holder === undefined || ids.indexOf(id) !== index) return { status: 'not-found', id };
    return holder === null ? { status: 'redriven', id } : { status: 'conflict', id, of: holder };
  });
}

async function discard(
  context: Context,
  queue: string,
  selection: DeadSelection,
  options: CallOptions,
): Promise<readonly DiscardOutcome[]> {
  const { connections, sql } = context;
  const call = startCall('discard', options);
  if (!('ids' in selection)) {
    const { rows } = await connections.ask(
      sql.discardSome,
      [queue, selection.type, most(selection.limit)],
      call,
    );
    return rows.map(({ id }) => ({ status: 'discarded', id: id as string }));
  }
  const sound = selection.ids.filter((id) => JOB_ID.test(id));
  const { rows } = await connections.ask(sql.discardIds, [queue, plainArray(sound)], call);
  const gone = new Set(rows.map(({ id }) => id));
  return selection.ids.map((id) => ({ status: gone.delete(id) ? 'discarded' : 'not-found', id }));
}

function most(limit: number): number {
  return Math.max(1, Math.min(Math.trunc(limit), MOST_A_CALL));
}

/** Where a page ended: its order is by time of death, then by id. */
function formatCursor(last: Row): string {
  return `${last['dead_us'] as string}.${last['id'] as string}`;
}

function parseCursor(cursor: string | null): readonly [string | null, string | null] {
  if (cursor === null) return [null, null];
  const [at, id] = cursor.split('.');
  if (at === undefined || id === undefined || !/^\d{1,19}$/.test(at) || !JOB_ID.test(id)) {
    throw failure('OPTIONS_INVALID', 'The cursor is not one that a listing gave.', 'deadLetters');
  }
  return [at, id];
}
