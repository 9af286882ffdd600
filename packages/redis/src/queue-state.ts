import { keysOf, type QueueKeys } from './keys.ts';

/** What this process remembers of one queue. Worth nothing to correctness. */
interface QueueState {
  readonly keys: QueueKeys;
  /** Whether this process has put the queue into the list of queues. */
  listed: boolean;
  /** Running mean of the bytes of a claimed job, so that one answer stays of a size that memory can bear. */
  meanBytes: number;
  /** Scripts under way that may hand out jobs; a pause waits for them. */
  readonly claiming: Set<Promise<unknown>>;
}

/** The queues this process has met. */
export interface QueueStates {
  of(queue: string): QueueState;
  /** The server may have lost what it had: each queue is put into the list of queues again. */
  unlist(): void;
}

/** Lets a first claim of 128 through, and no more. */
const FIRST_GUESS_BYTES = 128 * 1024;

export function createQueueStates(prefix: string): QueueStates {
  const states = new Map<string, QueueState>();
  return {
    of(queue) {
      const known = states.get(queue);
      if (known !== undefined) return known;
      const made: QueueState = {
        keys: keysOf(prefix, queue),
        listed: false,
        meanBytes: FIRST_GUESS_BYTES,
        claiming: new Set(),
      };
      states.set(queue, made);
      return made;
    },
    unlist() {
      for (const state of states.values()) state.listed = false;
    },
  };
}
