import { randomUUID } from 'node:crypto';
import {
  type Backend,
  type ClaimRequest,
  DEFAULT_PRIORITY,
  type JobError,
  type Lease,
  type NewJob,
} from '@surety/core/contract';

/** Time limit of calls that meet no fault. */
export const CALL = { timeoutMs: 10_000 };

export function newJob(overrides: Partial<NewJob> = {}): NewJob {
  const id = randomUUID();
  return {
    id,
    queue: 'q',
    type: 'test.job',
    payload: '{"n":1}',
    headers: {},
    idempotencyKey: id,
    delayMs: 0,
    expiresInMs: null,
    priority: DEFAULT_PRIORITY,
    dedupe: null,
    maxAttempts: null,
    maxDepth: null,
    ...overrides,
  };
}

export function request(overrides: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    ...CALL,
    queue: 'q',
    max: 10,
    leaseMs: 1000,
    waitMs: 0,
    nonce: randomUUID(),
    signal: null,
    ...overrides,
  };
}

export function jobError(overrides: Partial<JobError> = {}): JobError {
  return { code: 'HANDLER_FAILED', name: 'Error', message: 'no', stack: null, attempt: 1, ...overrides };
}

export async function opened<B extends Backend>(backend: B): Promise<B> {
  await backend.open({ ...CALL, notify: () => undefined });
  return backend;
}

/** Enqueues one job and says its id. */
export async function put(backend: Backend, overrides: Partial<NewJob> = {}): Promise<string> {
  const job = newJob(overrides);
  const [outcome] = await backend.enqueue([job], CALL);
  if (outcome?.status !== 'accepted') throw new Error(`The job is ${outcome?.status}.`);
  return job.id;
}

/** Claims exactly one job. */
export async function take(backend: Backend, overrides: Partial<ClaimRequest> = {}): Promise<Lease> {
  const { leases } = await backend.claim(request({ max: 1, ...overrides }));
  const lease = leases[0];
  if (lease === undefined) throw new Error('The claim is empty.');
  return lease;
}
