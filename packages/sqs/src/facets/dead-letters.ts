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
import { send } from '../copies.ts';
import { redriven } from '../envelope.ts';
import type { Session } from '../session.ts';
import { type DeadEntry, type DeadScan, scanDead } from './dead-scan.ts';

type Act = DeadScan<readonly string[]>['act'];

export function createDeadLetters(context: Context): DeadLetters {
  return Object.freeze({
    async list({ queue, limit, type }, options) {
      const call = startCall('list', options);
      const session = sessionOf(context, 'list');
      if (limit <= 0) return { entries: [], cursor: null };
      const found = await scanDead(session, queue, call, { visit: upTo(limit, type), act: onlyLook });
      return { entries: found.map((entry) => letterOf(session, entry, queue)), cursor: null };
    },
    async show(queue, id, options) {
      const call = startCall('show', options);
      const session = sessionOf(context, 'show');
      const [entry] = await scanDead(session, queue, call, { visit: oneEach([id]), act: onlyLook });
      return entry === undefined ? null : letterOf(session, entry, queue);
    },
    async redrive(queue, selection, options): Promise<readonly RedriveOutcome[]> {
      const session = sessionOf(context, 'redrive');
      const moved = await removed(session, queue, selection, options, 'redrive', redriveAll(session));
      return outcomesOf(selection, moved, 'redriven');
    },
    async discard(queue, selection, options): Promise<readonly DiscardOutcome[]> {
      const session = sessionOf(context, 'discard');
      const gone = await removed(session, queue, selection, options, 'discard', discardAll(session));
      return outcomesOf(selection, gone, 'discarded');
    },
  } satisfies DeadLetters);
}

async function onlyLook(
  found: readonly DeadEntry[],
): Promise<{ readonly result: readonly DeadEntry[]; readonly gone: readonly DeadEntry[] }> {
  return { result: found, gone: [] };
}

/** Copies first, each stored, then the originals go: a fault in between leaves both. */
function redriveAll(session: Session): Act {
  return async (entries, urls, call) => {
    const moved: DeadEntry[] = [];
    let failed: Error | null = null;
    await Promise.all(
      entries.map(async (entry) => {
        const { envelope, payload } = entry.decoded;
        // What the service moved by itself still counts its receives, and has no time of its own.
        const job = { envelope: redriven(envelope), payload };
        const sent = await send(session, urls, job, { to: 'later', delayMs: 0 }, call);
        if (sent.status !== 'done') {
          failed ??= sent.error;
          return;
        }
        moved.push(entry);
        await session.deleter.add(urls.dead, { ReceiptHandle: entry.handle }, call);
      }),
    );
    // What could not be copied is still dead; repeating moves the rest.
    if (failed !== null && moved.length === 0) throw failed;
    return { result: moved.map(idOf), gone: moved };
  };
}

function discardAll(session: Session): Act {
  return async (entries, urls, call) => {
    const gone: DeadEntry[] = [];
    let failed: Error | null = null;
    await Promise.all(
      entries.map(async (entry) => {
        const result = await session.deleter.add(urls.dead, { ReceiptHandle: entry.handle }, call);
        if (result.status === 'done') gone.push(entry);
        else failed ??= result.error;
      }),
    );
    if (failed !== null && gone.length === 0) throw failed;
    return { result: gone.map(idOf), gone };
  };
}

async function removed(
  session: Session,
  queue: string,
  selection: DeadSelection,
  options: CallOptions,
  operation: string,
  act: Act,
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
  return ({ decoded }) => {
    const wanted = type === null || decoded.envelope.type === type;
    if (wanted) found += 1;
    return { wanted, enough: found >= limit };
  };
}

/** The first entry of each id; another copy of it stays. */
function oneEach(ids: readonly string[]): DeadScan<unknown>['visit'] {
  const missing = new Set(ids);
  return (entry) => {
    const wanted = missing.delete(idOf(entry));
    return { wanted, enough: missing.size === 0 };
  };
}

function idOf({ decoded }: DeadEntry): string {
  return decoded.envelope.id;
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

function letterOf(session: Session, { decoded, sentAt, receives }: DeadEntry, queue: string): DeadLetter {
  const { envelope, payload } = decoded;
  const lastError = envelope.history.at(-1)?.error ?? null;
  // Moved by the service itself, after so many receives that nobody ended: its receives went on counting.
  const lost = envelope.isDead ? 0 : Math.max(0, receives - 1);
  return {
    id: envelope.id,
    queue,
    type: envelope.type,
    headers: envelope.headers,
    idempotencyKey: envelope.idempotencyKey,
    maxAttempts: envelope.maxAttempts,
    attempt: envelope.attempt + lost,
    deliveries: envelope.deliveries + lost,
    lostClaims: envelope.lostClaims + lost,
    interruptions: envelope.interruptions,
    redrives: envelope.redrives,
    state: 'dead',
    priority: DEFAULT_PRIORITY,
    payload,
    dueInMs: null,
    ageMs: Math.max(0, session.clock.likely() - (envelope.enqueuedAt ?? sentAt)),
    dedupeKey: null,
    lastError: envelope.isDead ? lastError : lostError(lost),
    history: envelope.history,
    deadAt: new Date(sentAt).toISOString(),
    reason: envelope.isDead ? (lastError?.code ?? 'INTERNAL') : 'WORKER_LOST',
  };
}

function lostError(receives: number): DeadLetter['lastError'] {
  const message = `SQS moved the job after ${receives} receives that nobody ended.`;
  return { code: 'WORKER_LOST', name: 'Error', message, stack: null, attempt: receives };
}
