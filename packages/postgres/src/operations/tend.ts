import type { Context } from '../context.ts';
import type { Call } from '../deadline.ts';
import { noteDue } from '../queue-state.ts';
import { sweepSoon } from './sweep.ts';

/** What tending a queue found. */
export interface Tended {
  /** Jobs that can be claimed now and could not before, or a ticket is there. */
  readonly claimable: boolean;
  readonly paused: boolean;
  /** A mark was made, and there was none before. */
  readonly newlyMarked: boolean;
  /** Until the next scheduled job is due; null: none is waiting. */
  readonly nextDueMs: number | null;
}

/** Once a second and queue while somebody claims: well within `reclaimBoundMs`. */
const TEND_EVERY_MS = 1000;
/** Sooner when a job is known to be due, but not for every single one. */
const TEND_REST_MS = 100;
/** Bounds of one step: some ten milliseconds of work. */
const CLAIMS_A_STEP = 50;
const JOBS_A_STEP = 500;
/** An idle mark lives 5 s; the first tending after half of it makes the next, so that a waiting worker is never without one. */
export const MARK_MS = 5000;

/** Whether tending is due: once a second, and when a job is due that this process knows of. */
export function tendIsDue(context: Context, queue: string): boolean {
  const { tendedAt, nextDueAt } = context.queues.of(queue);
  const now = performance.now();
  return now - tendedAt >= (nextDueAt <= now ? TEND_REST_MS : TEND_EVERY_MS);
}

/** Takes back what expired claims held and moves due jobs into line, in one bounded step (G2.10, G8.2). */
export async function tend(context: Context, queue: string, mark: boolean, call: Call): Promise<Tended> {
  const state = context.queues.of(queue);
  const startedAt = performance.now();
  state.tendedAt = startedAt;
  const marks = mark && context.listener.enabled;
  const values = [queue, CLAIMS_A_STEP, JOBS_A_STEP, marks ? MARK_MS : 0];
  const { rows } = await context.connections.ask(context.sql.tend, values, call);
  const row = rows[0] as unknown as {
    readonly lost: number;
    readonly claims: number;
    readonly moved: number;
    readonly ready: boolean;
    readonly paused: boolean;
    readonly marked: boolean;
    readonly next_due_ms: number | null;
  };
  state.nextDueAt = Number.POSITIVE_INFINITY;
  if (row.next_due_ms !== null) noteDue(state, row.next_due_ms);
  const newlyMarked = marks && !row.marked;
  if (newlyMarked) state.markedAt = performance.now();
  if (row.lost > 0) state.floor.reset();
  // A full step: there is probably more.
  if (row.claims >= CLAIMS_A_STEP || row.lost >= JOBS_A_STEP || row.moved >= JOBS_A_STEP)
    state.tendedAt = Number.NEGATIVE_INFINITY;
  sweepSoon(context);
  return {
    claimable: row.lost > 0 || row.moved > 0 || row.ready,
    paused: row.paused,
    newlyMarked,
    nextDueMs: row.next_due_ms,
  };
}

/** Tends beside the hot path when it is due. Its failure shows in the next claim, which meets the same store. */
export function tendInBackground(context: Context, queue: string, call: Call): void {
  if (!tendIsDue(context, queue)) return;
  tend(context, queue, false, call).catch(() => undefined);
}
