import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend, JobError, NewJob } from '@surety/core/contract';
import { operator as postgres } from '@surety/postgres/operator';
import { operator as rabbitmq } from '@surety/rabbitmq/operator';
import { operator as redis } from '@surety/redis/operator';
import { operator as sqlite } from '@surety/sqlite/operator';
import { sharedPostgres, startRabbitmq, startRedis } from '@surety/testbed';

const CALL = { timeoutMs: 15_000 };

/** A store for one test file, without a schema at first. */
export interface TestStore {
  readonly url: string;
  /** A folder of its own, to run commands in. */
  readonly folder: string;
  migrate(): Promise<void>;
  /** Runs `use` with an opened backend. */
  with<T>(use: (backend: Backend) => Promise<T>): Promise<T>;
  destroy(): Promise<void>;
}

export type StoreKind = 'sqlite' | 'postgres' | 'redis' | 'rabbitmq';

/** Of the Redis server that a test starts: what a user with a password sees. */
const REDIS_PASSWORD = 'right-and-never-shown';

interface Place {
  readonly url: string;
  destroy(): Promise<void>;
}

const OPERATORS = { sqlite, postgres, redis, rabbitmq };

async function makePlace(kind: StoreKind, folder: string): Promise<Place> {
  if (kind === 'sqlite') return { url: `sqlite:${join(folder, 'jobs.db')}`, destroy: async () => undefined };
  if (kind === 'postgres') {
    const server = await sharedPostgres();
    const url = await server.createDatabase();
    return { url, destroy: () => server.dropDatabase(url) };
  }
  if (kind === 'rabbitmq') {
    const server = await startRabbitmq();
    // Its queues are listed by the management API alone.
    const url = `${server.url}?management=${encodeURIComponent(await server.startManagement())}`;
    return { url, destroy: () => server.destroy() };
  }
  const server = await startRedis({ settings: { user: `surety on >${REDIS_PASSWORD} ~surety:* &* +@all` } });
  const url = server.url.replace('redis://', `redis://surety:${REDIS_PASSWORD}@`);
  return { url, destroy: () => server.destroy() };
}

export async function makeStore(kind: StoreKind): Promise<TestStore> {
  const folder = await mkdtemp(join(tmpdir(), 'surety-cli-test-'));
  const place = await makePlace(kind, folder);
  const { url } = place;
  const operator = OPERATORS[kind];
  const address = { url, namespace: null };
  return {
    url,
    folder,
    migrate: () => operator.migrate(address, CALL),
    async with(use) {
      const backend = operator.backend(address);
      await backend.open({ ...CALL, notify: () => undefined });
      try {
        return await use(backend);
      } finally {
        await backend.close({ graceMs: 2000 });
      }
    },
    async destroy() {
      await place.destroy();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function newJob(queue: string, overrides: Partial<NewJob> = {}): NewJob {
  const id = randomUUID();
  return {
    id,
    queue,
    type: 'test.job',
    payload: '{"greeting":"hello"}',
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

/** Stores jobs; all must be accepted. Answers their ids. */
export async function put(backend: Backend, jobs: readonly NewJob[]): Promise<readonly string[]> {
  const outcomes = await backend.enqueue(jobs, CALL);
  for (const { status, id } of outcomes) if (status !== 'accepted') throw new Error(`${id} is ${status}`);
  return jobs.map(({ id }) => id);
}

/** Stores jobs and buries them. */
export async function putDead(
  backend: Backend,
  jobs: readonly NewJob[],
  error: Partial<JobError> = {},
): Promise<readonly string[]> {
  const ids = await put(backend, jobs);
  const queue = jobs[0]?.queue ?? '';
  for (let left = jobs.length; left > 0; ) {
    const { leases } = await backend.claim({
      queue,
      max: left,
      leaseMs: 60_000,
      waitMs: 5000,
      nonce: randomUUID(),
      signal: null,
      ...CALL,
    });
    left -= leases.length;
    const buried = { code: 'BURIED', name: 'Error', message: 'it broke', stack: null, attempt: 1, ...error };
    await backend.settle(
      leases.map((lease) => ({ kind: 'bury', lease, error: buried })),
      CALL,
    );
  }
  return ids;
}
