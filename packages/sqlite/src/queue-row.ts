import type { Statements } from './statement-set.ts';

/** A row of surety_queue. */
export interface QueueRow {
  readonly id: number;
  readonly paused: number;
  readonly ready: number;
  readonly scheduled: number;
  readonly dead: number;
}

/** Null: the queue never held a job and was never paused. */
export function findQueue(st: Pick<Statements, 'readQueue'>, name: string): QueueRow | null {
  return (st.readQueue.get(name) as QueueRow | undefined) ?? null;
}

/** As `findQueue`, but makes it known. Needs the write lock. */
export function ensureQueue(st: Pick<Statements, 'readQueue' | 'addQueue'>, name: string): QueueRow {
  const found = findQueue(st, name);
  if (found !== null) return found;
  st.addQueue.run(name);
  const added = findQueue(st, name);
  if (added === null) throw new Error(`The queue ${name} was added and is not there.`);
  return added;
}
