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
import { sharedPostgres } from '@surety/testbed';
import pg from 'pg';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { type PostgresOptions, postgres } from '../src/index.ts';

/** Generous: no test is about how fast the machine is. */
export const CALL = Object.freeze({ timeoutMs: 20_000 });

export const ERROR: JobError = Object.freeze({
  code: 'HANDLER_FAILED',
  name: 'Error',
  message: 'quote " backslash \\ nul \u0000 end',
  stack: null,
  attempt: 1,
});

/** One database of a test file, and what was opened on it. */
export interface Store {
  readonly url: string;
  /** As the owner of the database, for looks behind the adapter's back. */
  query<R extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<R[]>;
  /** A backend with connections of its own, opened; closed after the test. */
  open(options?: PostgresOptions, notices?: Notice[]): Promise<Backend>;
}

/** Makes a database before the tests of a file and drops it after them. */
export function useStore(): Store {
  const backends: Backend[] = [];
  let url = '';
  let admin: pg.Client | null = null;
  beforeAll(async () => {
    const server = await sharedPostgres();
    url = await server.createDatabase();
    admin = await connect(url);
  });
  // Soon, and not in the end: a server has only so many connections.
  afterEach(async () => {
    await Promise.all(backends.splice(0).map((backend) => backend.close({ graceMs: 5000 })));
  });
  afterAll(async () => {
    await admin?.end();
    await (await sharedPostgres()).dropDatabase(url);
  });
  return {
    get url() {
      return url;
    },
    async query(text, values) {
      if (admin === null) throw new Error('the store is not ready');
      return (await admin.query(text, values)).rows;
    },
    async open(options = {}, notices = []) {
      const backend = postgres(options.pool === undefined ? { url, ...options } : options);
      backends.push(backend);
      await backend.open({ ...CALL, notify: (notice) => void notices.push(notice) });
      return backend;
    },
  };
}

export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

let queueCount = 0;
/** A queue that no other test uses. */
export function freshQueue(): string {
  queueCount += 1;
  return `q${queueCount}-${randomUUID().slice(0, 8)}`;
}

export function newJob(queue: string, fields: Partial<NewJob> = {}): NewJob {
  const id = fields.id ?? randomUUID();
  return {
    id,
    queue,
    type: 'test.job',
    payload: '{"n":1}',
    headers: {},
    idempotencyKey: id,
    delayMs: 0,
    expiresInMs: null,
    priority: 1,
    dedupe: null,
    maxAttempts: null,
    maxDepth: null,
    ...fields,
  };
}

export function claimRequest(queue: string, fields: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    queue,
    max: 10,
    leaseMs: 30_000,
    waitMs: 0,
    nonce: randomUUID(),
    signal: null,
    ...CALL,
    ...fields,
  };
}

export async function claimAll(
  backend: Backend,
  queue: string,
  fields: Partial<ClaimRequest> = {},
): Promise<readonly Lease[]> {
  return (await backend.claim(claimRequest(queue, fields))).leases;
}

export function completion(lease: Lease): Settlement {
  return { kind: 'complete', lease, outcome: 'completed' };
}

/** Puts so many jobs and returns their ids in order. */
export async function put(backend: Backend, queue: string, count: number): Promise<string[]> {
  const jobs = Array.from({ length: count }, () => newJob(queue));
  for (let at = 0; at < count; at += 500) await backend.enqueue(jobs.slice(at, at + 500), CALL);
  return jobs.map(({ id }) => id);
}

/** Asks until the answer is true; the test's own limit ends it otherwise. */
export async function eventually(look: () => Promise<boolean>): Promise<void> {
  while (!(await look())) await new Promise((resolve) => setTimeout(resolve, 25));
}

/**
 * What must hold of the tables at every moment: a ready job stands in one ticket, in its place and with its fence, every
 * other job in none, and a job with state 0 is either ready or held by a claim row that leased its fence.
 */
export async function brokenInvariants(store: Store, schema = 'surety'): Promise<Record<string, unknown>[]> {
  return store.query(`
    with standing as materialized (
      select member.id, t.seq + member.nth - 1 as seq, t.fence + member.nth - 1 as fence
      from ${schema}.ticket t, unnest(ids) with ordinality as member (id, nth)
    )
    select 'stranded' as what, j.id::text from ${schema}.job j
    where state = 0 and not exists (select from standing s where s.id = j.id)
      and not exists (select from ${schema}.claim c where j.id = any(c.ids) and j.fence = any(c.fences))
    union all
    select 'foreign ticket', s.id::text from standing s
    where not exists (select from ${schema}.job j where j.id = s.id and j.fence = s.fence and j.seq = s.seq and j.state = 0)
    union all
    select 'two tickets', id::text from standing group by id having count(*) > 1
    union all
    select 'ready and leased', s.id::text from standing s
    join ${schema}.claim c on s.id = any(c.ids) and s.fence = any(c.fences)`);
}
