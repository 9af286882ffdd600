import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Backend,
  type Claim,
  type ClaimRequest,
  CONTRACT_VERSION,
  DEFAULT_PRIORITY,
  ENVELOPE_BYTES,
  type EnqueueOutcome,
  type Lease,
  type NewJob,
  type QueueCounts,
} from '@surety/core/contract';
import { type ErrorCode, SuretyError } from '@surety/core/errors';
import { CAPABILITIES } from './capabilities.ts';
import { deadLetters } from './dead-letters.ts';
import { end, entriesOf, heldBy, newEntry, type TinyStore } from './store.ts';
import { leaseOf } from './views.ts';

const POLL_MS = 10;

/** A backend on a store that is a Map. Every method runs without a pause, so nothing can come between: that is its lock. */
export function tiny(store: TinyStore): Backend<typeof CAPABILITIES> {
  let state: 'new' | 'open' | 'closed' = 'new';
  let claimedAt: number | null = null;
  let renewedAt: number | null = null;

  /** Every call passes here first, as every call of a real adapter meets its connection. */
  function check(operation: string): void {
    if (state === 'open') return;
    const code: ErrorCode = state === 'closed' ? 'BACKEND_CLOSED' : 'BACKEND_UNAVAILABLE';
    throw new SuretyError(code, 'The backend is not open.', { adapter: 'tiny', operation });
  }

  function checkLease(leaseMs: number, operation: string): void {
    const { minMs, maxMs } = CAPABILITIES.lease;
    if (leaseMs >= minMs && leaseMs <= maxMs) return;
    const what = `A lease lasts ${minMs} to ${maxMs} ms, not ${leaseMs}.`;
    throw new SuretyError('LIMIT_EXCEEDED', what, { adapter: 'tiny', operation });
  }

  // region: claim
  function claimNow({ queue, max, nonce, leaseMs }: ClaimRequest): Claim {
    const leasedAt = performance.now(); // before the store is asked: a lease is never longer than it thinks
    if (store.paused.has(queue)) return { leases: [], paused: true, leasedAt };
    const now = store.now();
    const ready = entriesOf(store, queue)
      .filter((entry) => entry.lease === null && entry.dead === null && entry.dueAt <= now)
      .sort((a, b) => a.dueAt - b.dueAt || a.seq - b.seq)
      .slice(0, max);
    const leases = ready.map((entry): Lease => {
      const token = { nonce, fence: store.next() };
      entry.lease = { ...token, until: now + leaseMs };
      return leaseOf(entry, token, now);
    });
    return { leases, paused: false, leasedAt };
  }

  async function claim(request: ClaimRequest): Promise<Claim> {
    check('claim');
    checkLease(request.leaseMs, 'claim');
    const until = performance.now() + request.waitMs;
    for (;;) {
      const aborted = request.signal?.aborted === true || state !== 'open';
      if (aborted) return { leases: [], paused: false, leasedAt: performance.now() };
      const found = claimNow(request);
      claimedAt = performance.now();
      if (found.leases.length > 0 || found.paused || performance.now() >= until) return found;
      // A poll is enough to be right. To be woken by an enqueue would be faster.
      await sleep(POLL_MS);
    }
  }
  // endregion

  // region: enqueue
  async function enqueue(jobs: readonly NewJob[]): Promise<readonly EnqueueOutcome[]> {
    check('enqueue');
    if (jobs.length > CAPABILITIES.batch.maxItems) throw refusal('LIMIT_EXCEEDED', 'Too many jobs.', null);
    return jobs.map((job): EnqueueOutcome => {
      const error = refused(job);
      if (error !== null) return { status: 'rejected', id: job.id, error };
      if (store.jobs.has(job.id)) return { status: 'duplicate', id: job.id, of: job.id };
      store.jobs.set(job.id, newEntry(store, job));
      return { status: 'accepted', id: job.id };
    });
  }
  // endregion

  return Object.freeze({
    name: 'tiny',
    contractVersion: CONTRACT_VERSION,
    capabilities: CAPABILITIES,
    async open() {
      state = 'open';
    },
    async close() {
      state = 'closed'; // a waiting claim sees it within one poll
    },
    health: () => ({
      ok: state === 'open',
      lastClaimOkAgoMs: claimedAt === null ? null : performance.now() - claimedAt,
      lastRenewOkAgoMs: renewedAt === null ? null : performance.now() - renewedAt,
      reason: state === 'open' ? null : `the backend is ${state}`,
    }),
    enqueue,
    claim,
    // region: hot-path
    async renew(leases, leaseMs) {
      check('renew');
      checkLease(leaseMs, 'renew');
      renewedAt = performance.now();
      return leases.map((lease) => {
        const held = heldBy(store, lease)?.lease;
        if (held === undefined || held === null) return { status: 'lease-lost' };
        held.until = store.now() + leaseMs; // absolute, never added to what was left
        return { status: 'renewed', leaseMs };
      });
    },
    async settle(settlements) {
      check('settle');
      return settlements.map((settlement) => {
        const entry = heldBy(store, settlement.lease);
        if (entry === null) return { status: 'lease-lost' };
        end(store, entry, settlement);
        return { status: 'settled' };
      });
    },
    // endregion
    async counts(queue) {
      check('counts');
      return counted(store, queue);
    },
    async queues() {
      check('queues');
      return [...new Set([...store.paused, ...[...store.jobs.values()].map(({ job }) => job.queue)])].sort();
    },
    deadLetters: deadLetters(store, check),
    pacing: {
      async pause(queue) {
        check('pause');
        store.paused.add(queue);
      },
      async resume(queue) {
        check('resume');
        store.paused.delete(queue);
      },
      async state(queue) {
        check('state');
        return { paused: store.paused.has(queue) };
      },
    },
  } satisfies Backend<typeof CAPABILITIES>);
}

// region: refuse
/** What is not claimed is refused, never ignored: a caller must not think that it got what it asked for. */
function refused(job: NewJob): SuretyError | null {
  if (job.dedupe !== null) return refusal('CAPABILITY_MISSING', 'There is no de-duplication.', job.id);
  if (job.maxDepth !== null) return refusal('CAPABILITY_MISSING', 'There is no maximum depth.', job.id);
  if (job.priority !== DEFAULT_PRIORITY && job.priority !== 0)
    return refusal('CAPABILITY_MISSING', 'There are no priorities.', job.id);
  if (job.delayMs > CAPABILITIES.delay.maxMs) return refusal('LIMIT_EXCEEDED', 'Too long a delay.', job.id);
  const bytes = ENVELOPE_BYTES + Buffer.byteLength(job.payload + Object.entries(job.headers).flat().join(''));
  if (bytes <= CAPABILITIES.payload.maxBytes) return null;
  return refusal('PAYLOAD_TOO_LARGE', `The job has ${bytes} bytes.`, job.id);
}
// endregion

function refusal(code: ErrorCode, what: string, jobId: string | null): SuretyError {
  return new SuretyError(code, what, { adapter: 'tiny', operation: 'enqueue', jobId });
}

function counted(store: TinyStore, queue: string): QueueCounts {
  const now = store.now();
  const entries = entriesOf(store, queue);
  const waiting = entries.filter(({ lease, dead }) => lease === null && dead === null);
  const ready = waiting.filter(({ dueAt }) => dueAt <= now);
  const exact = (value: number | null): { readonly value: number | null; readonly kind: 'exact' } => ({
    value,
    kind: 'exact',
  });
  return {
    ready: exact(ready.length),
    scheduled: exact(waiting.length - ready.length),
    leased: exact(entries.filter(({ lease }) => lease !== null).length),
    dead: exact(entries.filter(({ dead }) => dead !== null).length),
    oldestReadyAgeMs: exact(ready.length === 0 ? null : now - Math.min(...ready.map(({ dueAt }) => dueAt))),
  };
}
