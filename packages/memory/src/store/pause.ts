import { WEAK_STALE_MS } from '../capabilities.ts';
import type { Context } from './context.ts';
import type { QueueState } from './queue-state.ts';

/** Whether this backend knows the queue as paused: its own change at once, where others' come late those of others later. */
export function isPaused(context: Context, queue: QueueState): boolean {
  const { paused, changedAt, changedBy } = queue.pause;
  const { store, connection } = context;
  if (!store.weak || changedBy === connection.id) return paused;
  return store.clock.now() - changedAt < WEAK_STALE_MS ? !paused : paused;
}

/** Pauses or resumes; twice is once. */
export function setPaused(context: Context, queue: QueueState, paused: boolean): void {
  if (queue.pause.paused === paused) return;
  queue.pause.paused = paused;
  queue.pause.changedAt = context.store.clock.now();
  queue.pause.changedBy = context.connection.id;
}
