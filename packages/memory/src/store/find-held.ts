import type { Lease } from '@surety/core/contract';
import type { Copy } from './copy.ts';
import { holds } from './lease-view.ts';
import type { QueueState } from './queue-state.ts';

/** The copy that a lease holds now; null when the lease has ended, however it did. */
export function findHeld(queue: QueueState, lease: Lease, now: number): Copy | null {
  return queue.copies(lease.id).find((copy) => holds(lease, copy, now)) ?? null;
}
