import type { Backend, CallOptions, QueueCounts } from '../contract/index.ts';
import type { Trace } from './trace-file.ts';
import type { FoundJob } from './trace-lines.ts';

/** What {@link recordFinal} looks at. */
export interface FinalRequest {
  readonly queues: readonly string[];
  /** Jobs to look for, where the backend has a lookup; the accepted ones, or those that have no confirmed end. */
  readonly ids?: readonly string[];
  /** Of one call; 10 s when left out. */
  readonly timeoutMs?: number;
}

/** What the store held. */
export interface FinalState {
  readonly queues: Readonly<Record<string, QueueCounts>>;
  /** Dead letters. */
  readonly dead: number;
  /** Jobs that were looked for and wait or are leased. */
  readonly waiting: number;
}

const PAGE = 500;
/** Lookups at once. */
const PARALLEL = 8;

/**
 * Writes what the store still holds: counts, every dead letter, and where each of `ids` is. Without it nobody can tell a lost job
 * from one that waits. Call it once, on an open backend, when no worker and no producer runs any more. Throws what the backend throws.
 */
export async function recordFinal(
  trace: Trace,
  backend: Backend,
  { queues, ids = [], timeoutMs = 10_000 }: FinalRequest,
): Promise<FinalState> {
  const options = { timeoutMs };
  const counts: Record<string, QueueCounts> = {};
  let dead = 0;
  let waiting = 0;
  for (const queue of queues) {
    dead += await recordDead(trace, backend, queue, options);
    if (backend.lookup !== undefined) waiting += await recordFound(trace, backend, queue, ids, options);
    const counted = await backend.counts(queue, options);
    counts[queue] = counted;
    const { ready, scheduled, leased, dead: buried } = counted;
    const values = {
      ready: ready.value,
      scheduled: scheduled.value,
      leased: leased.value,
      dead: buried.value,
    };
    trace.record({ kind: 'final', queue, ...values, deadListed: true }, 'before');
  }
  return { queues: counts, dead, waiting };
}

async function recordDead(
  trace: Trace,
  backend: Backend,
  queue: string,
  options: CallOptions,
): Promise<number> {
  let count = 0;
  let cursor: string | null = null;
  // Without a cursor a listing is one page: as long as it must be.
  let limit = backend.capabilities.deadLetters.cursor ? PAGE : await mostDead(backend, queue, options);
  do {
    const page = await backend.deadLetters.list({ queue, limit, cursor, type: null }, options);
    const jobs = page.entries.map(({ id, reason, lastError }): FoundJob => {
      return { id, state: 'dead', reason, hasError: lastError !== null };
    });
    trace.record({ kind: 'found', queue, jobs }, 'before');
    count += jobs.length;
    cursor = page.cursor;
    limit = PAGE;
  } while (cursor !== null);
  return count;
}

/** Counts of the dead may be behind. */
async function mostDead(backend: Backend, queue: string, options: CallOptions): Promise<number> {
  const { dead } = await backend.counts(queue, options);
  return Math.max(10 * PAGE, 2 * (dead.value ?? 0));
}

async function recordFound(
  trace: Trace,
  backend: Backend,
  queue: string,
  ids: readonly string[],
  options: CallOptions,
): Promise<number> {
  let waiting = 0;
  for (let from = 0; from < ids.length; from += PAGE) {
    const part = ids.slice(from, from + PAGE);
    const jobs: FoundJob[] = [];
    const absent: string[] = [];
    const rest = part.values();
    const look = async (): Promise<void> => {
      for (const id of rest) {
        const view = (await backend.lookup?.find(queue, id, options)) ?? null;
        if (view === null) absent.push(id);
        // Why the dead died is in their listing.
        else jobs.push({ id, state: view.state });
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, look));
    waiting += jobs.filter(
      ({ state }) => state !== 'dead' && state !== 'completed' && state !== 'cancelled',
    ).length;
    trace.record({ kind: 'found', queue, jobs, absent }, 'before');
  }
  return waiting;
}
