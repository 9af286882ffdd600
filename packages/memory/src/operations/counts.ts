import type { CallOptions, QueueCounts } from '@surety/core/contract';
import { WEAK_STALE_MS } from '../capabilities.ts';
import type { Context } from '../store/context.ts';
import type { QueueState } from '../store/queue-state.ts';

/** What is where. In profile `weak` as it was up to 100 ms ago. */
export async function counts(context: Context, name: string, options: CallOptions): Promise<QueueCounts> {
  return context.connection.call('counts', options.timeoutMs, () => {
    const { store } = context;
    const queue = store.queue(name);
    if (!store.weak) return count(context, queue);
    const now = store.clock.now();
    if (queue.told === null || now - queue.told.at >= WEAK_STALE_MS) {
      queue.told = { at: now, counts: count(context, queue) };
    }
    return queue.told.counts;
  });
}

function count(context: Context, queue: QueueState): QueueCounts {
  const kinds = context.capabilities.counts;
  const since = queue.oldestReadySince;
  const age = since === null ? null : Math.max(0, context.store.clock.now() - since);
  const ageKind = context.capabilities.oldestReadyAge;
  return {
    ready: { value: queue.ready, kind: kinds.ready },
    scheduled: { value: queue.scheduled, kind: kinds.scheduled },
    leased: { value: queue.leased, kind: kinds.leased },
    dead: { value: queue.dead.size, kind: kinds.dead },
    oldestReadyAgeMs: { value: ageKind === 'none' ? null : age, kind: ageKind },
  };
}
