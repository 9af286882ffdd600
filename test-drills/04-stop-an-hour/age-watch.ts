import { type AgeAlert, AgeWatch } from '@surety/core';
import type { Backend, QueueCounts } from '@surety/core/contract';
import { monotonicMs } from '../stage/monotonic.ts';
import type { Stage } from '../stage/stage.ts';

/** An alert on the age of the oldest ready job, watched from outside of the workers. */
export interface Watch {
  readonly alerts: readonly (AgeAlert & { readonly atMs: number })[];
  /** Most jobs that were ready while no alert stood. */
  readonly deepestWithoutAlert: number;
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 250;

/** The store tells no age, or only what no ready job is older than: nothing that an alert can rest on. */
export function isBlind({ capabilities: { oldestReadyAge } }: Stage): boolean {
  return oldestReadyAge === 'none' || oldestReadyAge === 'upper-bound';
}

/**
 * Looks at the store again and again. `claimedAgeMs` stands in where the store tells no age: how long what was claimed last had
 * waited; it can tell nothing while nobody works.
 */
export function watchAge(
  stage: Stage,
  backend: Backend,
  queue: string,
  limitMs: number,
  claimedAgeMs: () => number | null,
): Watch {
  const alerts: (AgeAlert & { readonly atMs: number })[] = [];
  let deepest = 0;
  let isOver = false;
  const cannotSee = isBlind(stage);
  const counts = async (name: string, call: { readonly timeoutMs: number }): Promise<QueueCounts> => {
    const seen = await backend.counts(name, call);
    if (alerts.at(-1)?.state !== 'raised') deepest = Math.max(deepest, seen.ready.value ?? 0);
    return cannotSee ? { ...seen, oldestReadyAgeMs: { value: claimedAgeMs(), kind: 'lower-bound' } } : seen;
  };
  const watch = new AgeWatch(
    { counts },
    limitMs,
    (alert) => void alerts.push({ ...alert, atMs: monotonicMs() }),
  );
  const looking = (async () => {
    while (!isOver && !stage.signal.aborted) {
      // What cannot be seen is neither raised nor cleared; the next look tells.
      await watch.look(queue, stage.call.timeoutMs).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  })();
  return {
    alerts,
    get deepestWithoutAlert() {
      return deepest;
    },
    async stop() {
      isOver = true;
      await looking;
    },
  };
}
