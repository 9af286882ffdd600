import type {
  CallOptions,
  DeadLetter,
  DeadLetters,
  DeadSelection,
  DiscardOutcome,
  RedriveOutcome,
} from '@surety/core/contract';
import { DEFAULT_PRIORITY } from '@surety/core/contract';
import { startCall } from '../call.ts';
import { type Context, sessionOf } from '../context.ts';
import { redriven } from '../envelope.ts';
import type { Session } from '../session.ts';
import { type DeadEntry, type DeadScan, scanDead } from './dead-scan.ts';

export function createDeadLetters(context: Context): DeadLetters {
  return Object.freeze({
    async list({ queue, limit, type }, options) {
      const call = startCall('list', options);
      const session = sessionOf(context, 'list');
      if (limit <= 0) return { entries: [], cursor: null };
      const visit = upTo(limit, type);
      const act = async (found: readonly DeadEntry[]): Promise<readonly DeadEntry[]> => found;
      const found = await scanDead(session, queue, call, { visit, act });
      return { entries: found.map((entry) => letterOf(entry, queue)), cursor: null };
    },
    async show(queue, id, options) {
      const call = startCall('show', options);
      const session = sessionOf(context, 'show');
      const visit: DeadScan<unknown>['visit'] = ({ envelope }) => {
        const wanted = envelope.id === id;
        return { wanted, enough: wanted };
      };
      const act = async (found: readonly DeadEntry[]): Promise<DeadEntry | undefined> => found[0];
      const entry = await scanDead(session, queue, call, { visit, act });
      return entry === undefined ? null : letterOf(entry, queue);
    },
    async redrive(queue, selection, options): Promise<readonly RedriveOutcome[]> {
      const session = sessionOf(context, 'redrive');
      const moved = await removed(session, queue, selection, options, 'redrive', (entries, remove) =>
        redriveAll(session, queue, entries, options, remove),
      );
      return outcomesOf(selection, moved, 'redriven');
    },
    async discard(queue, selection, options): Promise<readonly DiscardOutcome[]> {
      const session = sessionOf(context, 'discard');
      const gone = await removed(session, queue, selection, options, 'discard', async (entries, remove) => {
        for (const entry of entries) remove(entry);
        return entries.map(({ envelope }) => envelope.id);
      });
      return outcomesOf(selection, gone, 'discarded');
    },
  } satisfies DeadLetters);
}

/** Copies first, each confirmed, then the originals go: a fault in between leaves both. */
async function redriveAll(
  session: Session,
  queue: string,
  entries: readonly DeadEntry[],
  options: CallOptions,
  remove: (entry: DeadEntry) => void,
): Promise<readonly string[]> {
  if (entries.length === 0) return [];
  const now = Date.now();
  const copies = entries.map(({ envelope, payload }) => ({
    queue,
    payload,
    envelope: redriven(envelope, now),
    target: { to: 'ready' } as const,
  }));
  const published = await session.moves.copy(copies, startCall('redrive', options));
  const moved: string[] = [];
  let failed: unknown = null;
  for (const [index, entry] of entries.entries()) {
    const result = published[index];
    if (result?.status === 'stored') {
      remove(entry);
      moved.push(entry.envelope.id);
    } else failed ??= result?.error;
  }
  // What could not be copied is still dead; repeating moves the rest.
  if (failed !== null && moved.length === 0) throw failed;
  return moved;
}

async function removed(
  session: Session,
  queue: string,
  selection: DeadSelection,
  options: CallOptions,
  operation: string,
  act: (entries: readonly DeadEntry[], remove: (entry: DeadEntry) => void) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const call = startCall(operation, options);
  if ('ids' in selection) {
    if (selection.ids.length === 0) return [];
    return scanDead(session, queue, call, { visit: oneEach(selection.ids), act });
  }
  if (selection.limit <= 0) return [];
  return scanDead(session, queue, call, { visit: upTo(selection.limit, selection.type), act });
}

function upTo(limit: number, type: string | null): DeadScan<unknown>['visit'] {
  let found = 0;
  return ({ envelope }) => {
    const wanted = type === null || envelope.type === type;
    if (wanted) found += 1;
    return { wanted, enough: found >= limit };
  };
}

/** The first entry of each id; another copy of it stays. */
function oneEach(ids: readonly string[]): DeadScan<unknown>['visit'] {
  const missing = new Set(ids);
  return ({ envelope }) => {
    const wanted = missing.delete(envelope.id);
    return { wanted, enough: missing.size === 0 };
  };
}

function outcomesOf<S extends 'redriven' | 'discarded'>(
  selection: DeadSelection,
  done: readonly string[],
  status: S,
): { status: S | 'not-found'; id: string }[] {
  if (!('ids' in selection)) return done.map((id) => ({ status, id }));
  const left = new Set(done);
  return selection.ids.map((id) => ({ status: left.delete(id) ? status : 'not-found', id }));
}

function letterOf({ envelope, payload, brokerAt }: DeadEntry, queue: string): DeadLetter {
  const now = Date.now();
  const lastError = envelope.history.at(-1)?.error ?? null;
  return {
    id: envelope.id,
    queue,
    type: envelope.type,
    headers: envelope.headers,
    idempotencyKey: envelope.idempotencyKey,
    maxAttempts: envelope.maxAttempts,
    attempt: envelope.attempt,
    deliveries: envelope.deliveries,
    lostClaims: envelope.lostClaims,
    interruptions: envelope.interruptions,
    redrives: envelope.redrives,
    state: 'dead',
    priority: DEFAULT_PRIORITY,
    payload: payload.toString('utf8'),
    dueInMs: null,
    ageMs: Math.max(0, now - envelope.enqueuedAt),
    dedupeKey: null,
    lastError,
    history: envelope.history,
    deadAt: new Date(envelope.deadAt ?? brokerAt ?? now).toISOString(),
    // Without an error of ours the broker itself moved it here: a policy of its operator, on time or length.
    reason: envelope.deadAt === null ? 'INTERNAL' : (lastError?.code ?? 'INTERNAL'),
  };
}
