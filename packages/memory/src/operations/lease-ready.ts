import type { Claim, ClaimRequest, Lease } from '@surety/core/contract';
import { type Context, chance } from '../store/context.ts';
import { copyOf, type HeldLease } from '../store/copy.ts';
import { copyLeaseOf, leaseOf } from '../store/lease-view.ts';
import { isPaused } from '../store/pause.ts';
import type { QueueState } from '../store/queue-state.ts';

/** An answer that holds no lease. */
export function nothing(paused: boolean): Claim {
  return { leases: [], paused, leasedAt: performance.now() };
}

/** Leases up to `max` ready copies now, or gives back what a live claim with this nonce holds. */
export function leaseReady(context: Context, request: ClaimRequest): Claim {
  const { store, connection } = context;
  const queue = store.queue(request.queue);
  const leasedAt = performance.now();
  const replayed = context.capabilities.claimReplay ? replay(context, queue, request.nonce) : [];
  if (replayed.length > 0) return { leases: replayed, paused: false, leasedAt };
  if (isPaused(context, queue)) return { leases: [], paused: true, leasedAt };

  const now = store.clock.now();
  const end = now + request.leaseMs;
  const freeAt = store.after(request.leaseMs);
  const fenced = context.capabilities.fence === 'monotonic';
  const leases: Lease[] = [];
  const twins: (() => void)[] = [];
  while (leases.length < request.max) {
    const copy = queue.takeReady();
    if (copy === undefined) break;
    const fence = fenced ? store.next() : 0;
    const held: HeldLease = { nonce: request.nonce, fence, end, freeAt, session: connection.session };
    if (chance(context, 'duplicate')) {
      const twin = copyOf(copy, store.next());
      twins.push(() => addTwin(context, queue, twin));
    }
    leases.push((store.weak ? copyLeaseOf : leaseOf)(copy, held, now));
    queue.lease(copy, held);
  }
  for (const add of twins) add();
  return { leases, paused: false, leasedAt };
}

function replay(context: Context, queue: QueueState, nonce: string): Lease[] {
  const now = context.store.clock.now();
  return queue.heldBy(nonce).flatMap((copy) => (copy.lease === null ? [] : [leaseOf(copy, copy.lease, now)]));
}

function addTwin(context: Context, queue: QueueState, twin: ReturnType<typeof copyOf>): void {
  const now = context.store.clock.now();
  queue.add(twin);
  queue.await(twin, now, now);
  context.store.faults.note('broker-duplicate', { queue: queue.name, jobId: twin.job.id, copy: twin.serial });
}
