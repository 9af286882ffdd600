import type { Claim, ClaimRequest } from '@surety/core/contract';
import type { Context } from '../store/context.ts';
import type { Session } from '../store/session.ts';
import type { Waiter } from '../store/waiter.ts';
import { leaseReady, nothing } from './lease-ready.ts';

/** How a wait ended: with an answer of the store, or from this side (signal, close). */
export type Ended = { readonly how: 'answer'; readonly claim: Claim } | { readonly how: 'stopped' };

/**
 * Waits until something was leased, the queue is paused, `waitMs` have passed, the signal aborts, the backend closes or
 * the connection breaks. The wait is the caller's time: it is over when `waitMs` have passed by the store's clock or by
 * this process's, so that a virtual clock that stands still keeps nobody waiting for ever.
 */
export function waitForJobs(context: Context, request: ClaimRequest, session: Session): Promise<Ended> {
  const { store, connection } = context;
  const queue = store.queue(request.queue);
  return new Promise((resolve) => {
    const end = (ended: Ended): void => {
      queue.waiters.delete(waiter);
      store.clock.clearTimer(timer);
      clearTimeout(local);
      request.signal?.removeEventListener('abort', stop);
      store.waiterLeft(queue);
      resolve(ended);
    };
    const stop = (): void => end({ how: 'stopped' });
    const timeOver = (): void => end({ how: 'answer', claim: nothing(false) });
    const look = (): void => {
      if (connection.closed) return stop();
      if (session.broken) return timeOver();
      // Nobody is handed a job over a line that is known to be silent.
      if (!connection.reachable) return;
      const found = leaseReady(context, request);
      if (found.leases.length > 0 || found.paused) end({ how: 'answer', claim: found });
    };
    const waiter: Waiter = { look };
    const timer = store.clock.setTimer(timeOver, request.waitMs);
    const local = setTimeout(timeOver, Math.min(request.waitMs, 2 ** 31 - 1));
    request.signal?.addEventListener('abort', stop, { once: true });
    queue.waiters.add(waiter);
    store.touched(queue);
  });
}
