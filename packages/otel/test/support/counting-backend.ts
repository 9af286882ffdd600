import type { Backend, QueueCounts } from '@surety/core/contract';
import { memory } from '@surety/memory';

/** A backend that notes what it is asked, and answers what a test wants it to. */
export interface CountingBackend {
  readonly backend: Backend;
  /** Calls so far, by name. */
  readonly calls: Record<'open' | 'close' | 'queues' | 'counts', number>;
  /** In place of the real answer. */
  answer: {
    counts?: (queue: string, timeoutMs: number) => Promise<QueueCounts>;
    queues?: () => Promise<readonly string[]>;
  };
}

export function countingBackend(real: Backend = memory()): CountingBackend {
  const calls = { open: 0, close: 0, queues: 0, counts: 0 };
  const counting: CountingBackend = { calls, answer: {}, backend: null as unknown as Backend };
  const backend: Backend = {
    ...real,
    open: (options) => {
      calls.open += 1;
      return real.open(options);
    },
    close: (options) => {
      calls.close += 1;
      return real.close(options);
    },
    queues: (options) => {
      calls.queues += 1;
      return counting.answer.queues?.() ?? real.queues(options);
    },
    counts: (queue, options) => {
      calls.counts += 1;
      return counting.answer.counts?.(queue, options.timeoutMs) ?? real.counts(queue, options);
    },
  };
  return Object.assign(counting, { backend });
}

/** Counts of a queue, exact and zero but for what is given. */
export function countsOf(given: Partial<QueueCounts> = {}): QueueCounts {
  const zero = { value: 0, kind: 'exact' } as const;
  return {
    ready: zero,
    scheduled: zero,
    leased: zero,
    dead: zero,
    oldestReadyAgeMs: { value: null, kind: 'exact' },
    ...given,
  };
}
