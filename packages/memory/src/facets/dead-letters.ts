import type {
  CallOptions,
  DeadLetter,
  DeadLetterPage,
  DeadLetters,
  DeadSelection,
  DiscardOutcome,
  RedriveOutcome,
} from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import { ADAPTER } from '../connection.ts';
import type { Context } from '../store/context.ts';
import type { Copy } from '../store/copy.ts';
import { deadLetterOf } from '../store/lease-view.ts';
import { move } from '../store/move.ts';
import type { QueueState } from '../store/queue-state.ts';

/** The dead letters of a store. In profile `weak` in no order, without a cursor. */
export function deadLetters(context: Context): DeadLetters {
  const { connection, store } = context;

  return {
    list: (request, options) =>
      connection.call('list', options.timeoutMs, () => list(context, store.queue(request.queue), request)),

    show: (name, id, options) =>
      connection.call('show', options.timeoutMs, (): DeadLetter | null => {
        const copy = deadCopies(store.queue(name), id)[0];
        return copy === undefined ? null : viewDead(context, copy);
      }),

    redrive: (name, selection, options: CallOptions) =>
      connection.call('redrive', options.timeoutMs, () => {
        const queue = store.queue(name);
        const outcomes = perId(queue, selection, (id, copy) => redrive(context, queue, id, copy));
        store.touched(queue);
        return outcomes;
      }),

    discard: (name, selection, options) =>
      connection.call('discard', options.timeoutMs, () => {
        const queue = store.queue(name);
        return perId(queue, selection, (id, copy) => discard(queue, id, copy));
      }),
  };
}

function list(
  context: Context,
  queue: QueueState,
  request: { readonly limit: number; readonly cursor: string | null; readonly type: string | null },
): DeadLetterPage {
  const { cursor: paged, order } = context.capabilities.deadLetters;
  const before = request.cursor === null ? undefined : readCursor(request.cursor, paged);
  const found = take(queue.dead.newestFirst(before), request.type, request.limit + 1);
  const page = found.slice(0, request.limit);
  const last = page.at(-1)?.dead;
  const more = paged && found.length > page.length && last !== undefined && last !== null;
  const entries = page.map((copy) => viewDead(context, copy));
  if (order === 'none') shuffle(entries, context.random);
  return { entries, cursor: more ? String(last.serial) : null };
}

function readCursor(cursor: string, paged: boolean): number {
  const before = Number(cursor);
  if (paged && /^\d+$/.test(cursor) && Number.isSafeInteger(before)) return before;
  throw new SuretyError('OPTIONS_INVALID', 'The cursor is not one of this backend.', {
    adapter: ADAPTER,
    operation: 'list',
  });
}

function take(copies: Iterable<Copy>, type: string | null, limit: number): Copy[] {
  const found: Copy[] = [];
  for (const copy of copies) {
    if (found.length >= limit) break;
    if (type === null || copy.job.type === type) found.push(copy);
  }
  return found;
}

function deadCopies(queue: QueueState, id: string): Copy[] {
  return queue.copies(id).filter((copy) => copy.state === 'dead');
}

/** One outcome for each id named; by selection the oldest dead first, which are waiting longest. */
function perId<T>(
  queue: QueueState,
  selection: DeadSelection,
  act: (id: string, copy: Copy | undefined) => T,
): T[] {
  if ('ids' in selection) return selection.ids.map((id) => act(id, deadCopies(queue, id)[0]));
  const chosen = take([...queue.dead.newestFirst()].reverse(), selection.type, selection.limit);
  return chosen.map((copy) => act(copy.job.id, copy));
}

/** Moves one copy; others of the same id, left by a fault, stay dead. */
function redrive(context: Context, queue: QueueState, id: string, copy: Copy | undefined): RedriveOutcome {
  if (copy === undefined) return { status: 'not-found', id };
  const key = copy.job.dedupe?.key;
  const owner = key === undefined ? null : queue.dedupe.owner(key);
  if (owner !== null && owner !== id) return { status: 'conflict', id, of: owner };
  const now = context.store.clock.now();
  const whole = move(
    context,
    queue,
    copy,
    'redrive',
    (dead) => queue.exhume(dead),
    (fresh) => {
      fresh.attempt = 0;
      fresh.lostClaims = 0;
      fresh.lossBackedOff = false;
      fresh.interruptions = 0;
      fresh.unknownTypeSince = null;
      fresh.redrives += 1;
      queue.await(fresh, now, now);
    },
  );
  if (whole) return { status: 'redriven', id };
  throw new SuretyError('BACKEND_UNAVAILABLE', 'The connection broke during a redrive.', {
    adapter: ADAPTER,
    operation: 'redrive',
    jobId: id,
    retryable: 'unknown',
  });
}

/** Removes every dead copy of the id, so that what was discarded does not come back. */
function discard(queue: QueueState, id: string, copy: Copy | undefined): DiscardOutcome {
  if (copy === undefined || copy.state !== 'dead') return { status: 'not-found', id };
  for (const dead of deadCopies(queue, id)) {
    queue.exhume(dead);
    queue.drop(dead);
    // Marks it as gone for a selection that names this copy again.
    dead.state = 'ready';
  }
  return { status: 'discarded', id };
}

function viewDead(context: Context, copy: Copy): DeadLetter {
  if (copy.dead === null) throw new Error('A copy among the dead has no death.');
  return deadLetterOf(copy, copy.dead, context.store.clock.now());
}

function shuffle<T>(items: T[], random: () => number): void {
  for (let at = items.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [items[at], items[other]] = [items[other] as T, items[at] as T];
  }
}
