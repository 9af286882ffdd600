import { createFloor, type Floor } from './floor.ts';

/** What this process remembers of one queue. Worth nothing to correctness. */
export interface QueueState {
  readonly floor: Floor;
  /** `performance.now()` of the last tending; it is due once a second while somebody claims. */
  tendedAt: number;
  /** When the next scheduled job that this process knows of is due. */
  nextDueAt: number;
  /** When a mark was made where none lived: producers that were under way then have not seen it. */
  markedAt: number;
  /** Running mean of the bytes of a claimed job, so that one answer stays of a size that memory can bear. */
  meanBytes: number;
  /** Statements under way that may hand out jobs; a pause waits for them. */
  readonly claiming: Set<Promise<unknown>>;
  /** How deep the queue was when last counted, what was added since, and when and how long counting took. */
  depth: { counted: number; added: number; at: number; tookMs: number } | null;
}

/** The queues this process has met. */
export interface QueueStates {
  of(queue: string): QueueState;
}

/** Lets a first claim of 500 through, and no more. */
const FIRST_GUESS_BYTES = 128 * 1024;

export function createQueueStates(): QueueStates {
  const states = new Map<string, QueueState>();
  return {
    of(queue) {
      const known = states.get(queue);
      if (known !== undefined) return known;
      const made: QueueState = {
        floor: createFloor(),
        tendedAt: Number.NEGATIVE_INFINITY,
        nextDueAt: Number.POSITIVE_INFINITY,
        markedAt: Number.NEGATIVE_INFINITY,
        meanBytes: FIRST_GUESS_BYTES,
        claiming: new Set(),
        depth: null,
      };
      states.set(queue, made);
      return made;
    },
  };
}

/** A job of the queue will be due after so long. */
export function noteDue(state: QueueState, delayMs: number): void {
  state.nextDueAt = Math.min(state.nextDueAt, performance.now() + delayMs);
}
