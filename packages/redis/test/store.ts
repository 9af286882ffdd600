import { randomUUID } from 'node:crypto';
import type {
  Backend,
  ClaimRequest,
  JobError,
  Lease,
  NewJob,
  Notice,
  Settlement,
} from '@surety/core/contract';
import { sharedRedis } from '@surety/testbed';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { type RedisOptions, redis } from '../src/index.ts';

/** Generous: no test is about how fast the machine is. */
export const CALL = Object.freeze({ timeoutMs: 20_000 });

export const ERROR: JobError = Object.freeze({
  code: 'HANDLER_FAILED',
  name: 'Error',
  message: 'quote " backslash \\ nul \u0000 end',
  stack: null,
  attempt: 1,
});

/** A part of the shared server for one test file, and what was opened on it. */
export interface Store {
  readonly url: string;
  readonly prefix: string;
  /** For looks behind the adapter's back. */
  readonly client: Redis;
  /** A backend with connections of its own, opened; closed after the test. */
  open(options?: RedisOptions, notices?: Notice[]): Promise<Backend>;
}

/** Takes a prefix of its own before the tests of a file and removes its keys after them. */
export function useStore(): Store {
  const prefix = `test-${randomUUID().slice(0, 8)}`;
  const backends: Backend[] = [];
  let url = '';
  let client: Redis | null = null;
  const connected = (): Redis => {
    if (client === null) throw new Error('the store is not ready');
    return client;
  };
  beforeAll(async () => {
    url = (await sharedRedis()).url;
    client = new Redis(url);
  });
  afterEach(async () => {
    await Promise.all(backends.splice(0).map((backend) => backend.close({ graceMs: 5000 })));
  });
  afterAll(async () => {
    const keys = await connected().keys(`${prefix}:*`);
    if (keys.length > 0) await connected().del(keys);
    connected().disconnect();
  });
  return {
    prefix,
    get url() {
      return url;
    },
    get client() {
      return connected();
    },
    async open(options = {}, notices = []) {
      const given = options.client === undefined ? { connection: url } : {};
      const backend = await openBackend({ ...given, prefix, ...options }, notices);
      backends.push(backend);
      return backend;
    },
  };
}

/** An opened backend. The caller closes it. */
export async function openBackend(options: RedisOptions, notices: Notice[] = []): Promise<Backend> {
  const backend = redis(options);
  await backend.open({ ...CALL, notify: (notice) => void notices.push(notice) });
  return backend;
}

export function freshQueue(): string {
  return `q-${randomUUID().slice(0, 8)}`;
}

export function newJob(queue: string, overrides: Partial<NewJob> = {}): NewJob {
  const id = randomUUID();
  return {
    id,
    queue,
    type: 'some.job',
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

/** Enqueues and throws unless all were accepted. */
export async function put(
  backend: Backend,
  queue: string,
  count = 1,
  overrides: Partial<NewJob> = {},
): Promise<readonly NewJob[]> {
  const jobs = Array.from({ length: count }, () => newJob(queue, overrides));
  const outcomes = await backend.enqueue(jobs, CALL);
  const refused = outcomes.find(({ status }) => status !== 'accepted');
  if (refused !== undefined) throw new Error(`not accepted: ${JSON.stringify(refused)}`);
  return jobs;
}

/** A claim that asks once, for up to ten. */
export function request(queue: string, overrides: Partial<ClaimRequest> = {}): ClaimRequest {
  const asked = { queue, max: 10, leaseMs: 30_000, waitMs: 0, nonce: randomUUID(), signal: null };
  return { ...asked, ...CALL, ...overrides };
}

export async function claim(
  backend: Backend,
  queue: string,
  overrides: Partial<ClaimRequest> = {},
): Promise<readonly Lease[]> {
  return (await backend.claim(request(queue, overrides))).leases;
}

export function completion(lease: Lease): Settlement {
  return { kind: 'complete', lease, outcome: 'completed' };
}

export async function statuses(backend: Backend, settlements: readonly Settlement[]): Promise<string[]> {
  return (await backend.settle(settlements, CALL)).map(({ status }) => status);
}

/** Asks until the answer is true. */
export async function eventually(probe: () => Promise<boolean>, withinMs = 20_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    if (await probe().catch(() => false)) return;
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
