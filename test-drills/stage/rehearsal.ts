import { randomUUID } from 'node:crypto';
import type { Backend, Lease, NewJob, Settlement } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import { connectTo, freshQueueName, type Place } from './place.ts';
import { pause } from './waiting.ts';

const CALL = { timeoutMs: 15_000 };
const LEASE_MS = 10_000;
const WAIT_MS = 10_000;
/** Long enough to be a delay to every store. */
const DELAY_MS = 100;
const LOOK_EVERY_MS = 50;
const CLOSE_MS = 5000;
const ERROR = { code: 'HANDLER_FAILED', name: 'Error', message: 'a rehearsal', stack: null, attempt: 1 };

/**
 * One job goes through all that drills do with jobs. Throws what the store says where it refuses: a drill without a right would wait in vain, and
 * then call a promise broken.
 */
export async function rehearse(place: Place, signal: AbortSignal): Promise<void> {
  const backend = await connectTo(place.connect);
  try {
    await backend.open({ ...CALL, notify: () => undefined });
    const job = jobIn(freshQueueName());
    const [outcome] = await backend.enqueue([job], CALL);
    if (outcome?.status === 'rejected' || outcome?.status === 'unknown') throw outcome.error;
    const first = await claimOne(backend, job.queue, signal);
    await backend.renew([first], leaseMsOf(backend), CALL);
    await settle(backend, { kind: 'retry', lease: first, delayMs: DELAY_MS, error: ERROR });
    const second = await claimOne(backend, job.queue, signal);
    await settle(backend, { kind: 'bury', lease: second, error: ERROR });
    await backend.counts(job.queue, CALL);
    await found(signal, 'its dead letter', () => backend.deadLetters.show(job.queue, job.id, CALL));
    await backend.deadLetters.redrive(job.queue, { ids: [job.id] }, CALL);
    const third = await claimOne(backend, job.queue, signal);
    await settle(backend, { kind: 'complete', lease: third, outcome: 'completed' });
  } finally {
    await backend.close({ graceMs: CLOSE_MS });
  }
}

function claimOne(backend: Backend, queue: string, signal: AbortSignal): Promise<Lease> {
  const request = { queue, max: 1, leaseMs: leaseMsOf(backend), waitMs: WAIT_MS, signal, ...CALL };
  return found(signal, 'it again', async () => {
    const { leases } = await backend.claim({ ...request, nonce: randomUUID() });
    return leases[0] ?? null;
  });
}

/** What a probe throws is what is looked for here: it is not asked again. */
async function found<T>(signal: AbortSignal, what: string, probe: () => Promise<T | null>): Promise<T> {
  const end = performance.now() + WAIT_MS;
  for (;;) {
    signal.throwIfAborted();
    const answer = await probe();
    if (answer !== null) return answer;
    if (performance.now() > end) {
      throw new SuretyError(
        'INTERNAL',
        `A job was stored, but the store did not give ${what} within ${WAIT_MS} ms.`,
        {
          remedy: 'Look at the server, and at whether it deletes or hides what it is told to keep.',
        },
      );
    }
    await pause(signal, LOOK_EVERY_MS);
  }
}

async function settle(backend: Backend, settlement: Settlement): Promise<void> {
  const [outcome] = await backend.settle([settlement], CALL);
  if (outcome?.status === 'unknown') throw outcome.error;
}

function leaseMsOf({ capabilities: { lease } }: Backend): number {
  return Math.min(Math.max(LEASE_MS, lease.minMs), lease.maxMs);
}

function jobIn(queue: string): NewJob {
  const id = randomUUID();
  return {
    id,
    queue,
    type: 'drill.rehearsal',
    payload: '{}',
    headers: {},
    idempotencyKey: id,
    delayMs: 0,
    expiresInMs: null,
    priority: 0,
    dedupe: null,
    maxAttempts: null,
    maxDepth: null,
  };
}
