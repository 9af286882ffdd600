import type { Backend, EnqueueOutcome, NewJob } from '../contract/index.ts';
import { SuretyError } from '../errors/index.ts';
import type { BackendHold } from '../startup/backend-session.ts';
import { batchesOf } from './batches.ts';
import { asSuretyError } from './enqueue-result.ts';
import { type EnqueueCall, enqueueGuarded } from './guarded-enqueue.ts';

/** A checked item of `enqueueMany`; `tx` undefined: outside of a transaction. */
export interface BulkItem {
  readonly index: number;
  readonly job: NewJob;
  readonly tx: unknown;
  readonly timeoutMs: number;
}

/**
 * Sends in as few calls as the backend takes, one after the other, so that the order is kept; what is bound to a transaction goes
 * to that one. Each call is bounded by the shortest time limit of its items. After a call that failed as a whole because the store is
 * away, the rest is not sent: a long list must not wait once per call. Never rejects; `answer` is called once per item.
 */
export async function enqueueInBulk(
  backend: Backend,
  hold: BackendHold,
  items: readonly BulkItem[],
  answer: (item: BulkItem, outcome: EnqueueOutcome) => void,
): Promise<void> {
  for (const group of byTransaction(items)) {
    let isAway = false;
    for (const batch of batchesOf(group, backend.capabilities)) {
      const outcomes: readonly EnqueueOutcome[] = isAway
        ? batch.map(notSent)
        : await send(backend, hold, batch);
      isAway ||= outcomes.every(saysAway);
      for (const [at, outcome] of outcomes.entries()) {
        const item = batch[at];
        if (item !== undefined) answer(item, outcome);
      }
    }
  }
}

function byTransaction(items: readonly BulkItem[]): Iterable<readonly BulkItem[]> {
  const groups = new Map<unknown, BulkItem[]>();
  for (const item of items) {
    const group = groups.get(item.tx);
    if (group === undefined) groups.set(item.tx, [item]);
    else group.push(item);
  }
  return groups.values();
}

async function send(
  backend: Backend,
  hold: BackendHold,
  batch: readonly BulkItem[],
): Promise<readonly EnqueueOutcome[]> {
  const startedAt = performance.now();
  const timeoutMs = batch.reduce((least, item) => Math.min(least, item.timeoutMs), Number.POSITIVE_INFINITY);
  const jobs = batch.map(({ job }) => job);
  let call: EnqueueCall;
  try {
    call = callFor(backend, batch[0]?.tx);
    if (!hold.isOpen()) await hold.ready(timeoutMs);
  } catch (error) {
    return jobs.map(({ id }) => ({ status: 'rejected', id, error: asSuretyError(error) }));
  }
  return enqueueGuarded(call, jobs, Math.max(1, timeoutMs - (performance.now() - startedAt)));
}

/** The call that stores, inside of `tx` where there is one. Throws ADAPTER_BROKE_CONTRACT where the facet is missing. */
export function callFor(backend: Backend, tx: unknown): EnqueueCall {
  if (tx === undefined) return (jobs, options) => backend.enqueue(jobs, options);
  const facet = backend.transactional;
  if (facet === undefined) {
    throw new SuretyError(
      'ADAPTER_BROKE_CONTRACT',
      `${backend.name} states transactional and has no such facet.`,
    );
  }
  return (jobs, options) => facet.enqueue(tx, jobs, options);
}

const AWAY: ReadonlySet<string> = new Set(['BACKEND_UNAVAILABLE', 'BACKEND_TIMEOUT', 'BACKEND_CLOSED']);

function saysAway(outcome: EnqueueOutcome): boolean {
  return outcome.status === 'unknown' || (outcome.status === 'rejected' && AWAY.has(outcome.error.code));
}

function notSent({ job }: BulkItem): EnqueueOutcome {
  const what = 'Not sent, because the store did not answer for the part of the list before.';
  return {
    status: 'rejected',
    id: job.id,
    error: new SuretyError('BACKEND_UNAVAILABLE', what, { jobId: job.id }),
  };
}
