import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  Backend,
  Claim,
  ClaimRequest,
  JobError,
  Lease,
  NewJob,
  Settlement,
} from '@surety/core/contract';
import { onTestFinished } from 'vitest';

/** Generous: the machine may be busy. */
export const CALL = { timeoutMs: 20_000 };
export const QUEUE = 'work';

/** A path in a folder of its own, removed after the test. */
export function freshFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'surety-sqlite-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'jobs.db');
}

/** Opens, and closes after the test. */
export async function opened<B extends Backend>(backend: B): Promise<B> {
  onTestFinished(() => backend.close({ graceMs: 100 }));
  await backend.open({ ...CALL, notify: () => undefined });
  return backend;
}

export function newJob(overrides: Partial<NewJob> = {}): NewJob {
  const id = overrides.id ?? randomUUID();
  return {
    id,
    queue: QUEUE,
    type: 'task',
    payload: '{"n":1}',
    headers: {},
    idempotencyKey: id,
    delayMs: 0,
    expiresInMs: null,
    priority: 1,
    dedupe: null,
    maxAttempts: null,
    maxDepth: null,
    ...overrides,
  };
}

export const newJobs = (count: number, overrides: Partial<NewJob> = {}): NewJob[] =>
  Array.from({ length: count }, () => newJob(overrides));

/** Enqueues, and throws unless all are accepted. */
export async function put(backend: Backend, ...jobs: NewJob[]): Promise<NewJob[]> {
  for (const outcome of await backend.enqueue(jobs, CALL)) {
    if (outcome.status !== 'accepted') throw new Error(JSON.stringify(outcome));
  }
  return jobs;
}

export function request(overrides: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    queue: QUEUE,
    max: 10,
    leaseMs: 60_000,
    waitMs: 0,
    nonce: randomUUID(),
    signal: null,
    ...CALL,
    ...overrides,
  };
}

export const claim = (backend: Backend, overrides: Partial<ClaimRequest> = {}): Promise<Claim> =>
  backend.claim(request(overrides));

/** One lease; throws when there is none. */
export async function claimOne(backend: Backend, overrides: Partial<ClaimRequest> = {}): Promise<Lease> {
  const [lease] = (await claim(backend, { max: 1, ...overrides })).leases;
  if (lease === undefined) throw new Error('Nothing was to be claimed.');
  return lease;
}

export const completed = (lease: Lease): Settlement => ({ kind: 'complete', lease, outcome: 'completed' });
export const retried = (lease: Lease, delayMs = 0): Settlement => ({
  kind: 'retry',
  lease,
  delayMs,
  error: failure,
});
export const buried = (lease: Lease): Settlement => ({ kind: 'bury', lease, error: failure });

const failure: JobError = {
  code: 'HANDLER_FAILED',
  name: 'Error',
  message: 'no',
  stack: null,
  attempt: 1,
};

/** What became of each settlement. */
export async function settle(backend: Backend, ...settlements: Settlement[]): Promise<string[]> {
  return (await backend.settle(settlements, CALL)).map(({ status }) => status);
}
