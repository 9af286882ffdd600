/** The longest timer that Node can set. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const OVER = (): void => undefined;

/** One thing that has to have ended by a time. */
export interface Pending {
  /** `performance.now()`. */
  readonly deadline: number;
  /** Of no use once it was removed. */
  expire: () => void;
}

/** Many deadlines on one timer: most are met, and a timer for each would be a part of what a call costs. */
export interface Deadlines {
  add(pending: Pending): void;
  /** False: it has expired, and its end is nobody's any more. */
  remove(pending: Pending): boolean;
  readonly size: number;
}

export function createDeadlines(): Deadlines {
  const open = new Set<Pending>();
  let timer: NodeJS.Timeout | null = null;
  let firesAt = Number.POSITIVE_INFINITY;

  function arm(at: number): void {
    if (timer !== null) clearTimeout(timer);
    firesAt = at;
    timer = setTimeout(fire, Math.max(1, Math.min(Math.ceil(at - performance.now()), MAX_TIMER_MS)));
    // What is pending has a connection, which keeps the process alive.
    timer.unref();
  }

  function fire(): void {
    timer = null;
    firesAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const pending of open) {
      if (pending.deadline > now) {
        next = Math.min(next, pending.deadline);
        continue;
      }
      open.delete(pending);
      pending.expire();
    }
    if (next < firesAt) arm(next);
  }

  return {
    add(pending) {
      open.add(pending);
      if (pending.deadline < firesAt) arm(pending.deadline);
    },
    remove(pending) {
      // A set can keep what it held long after it was taken out: without this, answers with all their jobs.
      pending.expire = OVER;
      return open.delete(pending);
    },
    get size() {
      return open.size;
    },
  };
}
