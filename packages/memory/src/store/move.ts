import type { Context } from './context.ts';
import { type Copy, copyOf } from './copy.ts';
import type { Move } from './fault-controls.ts';
import type { QueueState } from './queue-state.ts';

/** Changes the counters of a copy and puts it, being in no place, into its new one. */
export type Placement = (copy: Copy) => void;

/**
 * Takes a copy out of its place (by `leave`) and puts it into another. Atomic in profile `strong`. In profile `weak` the
 * new copy is stored first and the original ended afterwards; false: the move stopped between the two, both exist.
 */
export function move(
  context: Context,
  queue: QueueState,
  copy: Copy,
  kind: Move,
  leave: (copy: Copy) => void,
  place: Placement,
): boolean {
  const { store } = context;
  if (!store.weak) {
    leave(copy);
    place(copy);
    return true;
  }
  const next = copyOf(copy, store.next());
  queue.add(next);
  place(next);
  if (store.faults.takeCrash(kind)) {
    const facts = { queue: queue.name, jobId: copy.job.id, copy: next.serial, operation: kind };
    store.faults.note('crash-between', facts);
    return false;
  }
  leave(copy);
  queue.drop(copy);
  return true;
}
