import type { Notice } from '@surety/core/contract';
import { startTcpProxy, type TcpProxy } from '@surety/testbed';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import {
  CALL,
  claimAll,
  claimRequest,
  completion,
  connect,
  eventually,
  freshQueue,
  newJob,
  put,
  useStore,
} from './store.ts';

const store = useStore();

/** Ends the sessions of every backend on the database, as an administrator or a restart does. */
async function endSessions(): Promise<void> {
  await store.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'surety' and pid <> pg_backend_pid()`,
  );
  await eventually(async () => {
    const [row] = await store.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity
       where datname = current_database() and application_name = 'surety' and state is not null`,
    );
    return row?.n === 0;
  });
}

async function throughProxy<T>(use: (url: string, proxy: TcpProxy) => Promise<T>): Promise<T> {
  const { hostname, port } = new URL(store.url);
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
  const url = new URL(store.url);
  url.hostname = proxy.host;
  url.port = String(proxy.port);
  try {
    return await use(url.href, proxy);
  } finally {
    await proxy.close();
  }
}

describe('connections', () => {
  test('a process that only enqueues outlives the end of all its sessions (B032)', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    await put(backend, queue, 1);
    for (let round = 0; round < 3; round++) {
      await endSessions();
      await eventually(async () => (await backend.enqueue([newJob(queue)], CALL))[0]?.status === 'accepted');
    }
    expect((await backend.counts(queue, CALL)).ready.value).toBe(4);
  });

  test('connections of a given pool are outlived too, and the pool is never closed (B032)', async () => {
    const pool = new pg.Pool({ connectionString: store.url, application_name: 'surety', max: 3 });
    // As an application that forgot to listen: the pool itself would bring the process down.
    pool.on('error', () => undefined);
    const backend = await store.open({ pool });
    const queue = freshQueue();
    await put(backend, queue, 1);
    await endSessions();
    await eventually(async () => (await backend.enqueue([newJob(queue)], CALL))[0]?.status === 'accepted');
    await backend.close({ graceMs: 5000 });
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  test('few connections serve any number of calls', async () => {
    const backend = await store.open({ schema: 'few' });
    const queue = freshQueue();
    await put(backend, queue, 1);
    await Promise.all(Array.from({ length: 100 }, () => backend.counts(queue, CALL)));
    const [row] = await store.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = 'surety' and query like '%"few"%'`,
    );
    expect(row?.n).toBeLessThanOrEqual(4);
  });

  test('a connection that fell silent ends its call in time and is not used again (B026)', async () => {
    await throughProxy(async (url, proxy) => {
      const backend = await store.open({ url });
      const queue = freshQueue();
      await put(backend, queue, 2);
      proxy.blackhole('existing');
      const startedAt = performance.now();
      await expect(backend.counts(queue, { timeoutMs: 500 })).rejects.toMatchObject({
        code: 'BACKEND_TIMEOUT',
      });
      expect(performance.now() - startedAt).toBeLessThan(5000);
      expect((await backend.counts(queue, CALL)).ready.value).toBe(2);
      await backend.close({ graceMs: 500 });
    });
  });

  test('a lost answer is unknown, with the id, and repeating it is safe', async () => {
    await throughProxy(async (url, proxy) => {
      const backend = await store.open({ url });
      const queue = freshQueue();
      await put(backend, queue, 1);
      const job = newJob(queue);
      proxy.dropReplies();
      const [unknown] = await backend.enqueue([job], { timeoutMs: 500 });
      expect(unknown).toMatchObject({
        status: 'unknown',
        id: job.id,
        error: { code: 'OUTCOME_UNKNOWN', jobId: job.id },
      });
      await proxy.heal();
      const [again] = await backend.enqueue([job], CALL);
      expect(again).toEqual({ status: 'duplicate', id: job.id, of: job.id });
      expect((await backend.counts(queue, CALL)).ready.value).toBe(2);
    });
  });

  test('where nobody listens a job is rejected, not unknown (B037)', async () => {
    await throughProxy(async (url, proxy) => {
      const backend = await store.open({ url });
      await proxy.refuse();
      proxy.cut();
      await eventually(async () => {
        const [outcome] = await backend.enqueue([newJob('away')], { timeoutMs: 1000 });
        return outcome?.status === 'rejected' && outcome.error.code === 'BACKEND_UNAVAILABLE';
      });
      expect(backend.health()).toMatchObject({ ok: false });
      await proxy.heal();
      expect(await backend.enqueue([newJob('away')], CALL)).toMatchObject([{ status: 'accepted' }]);
      expect(backend.health()).toMatchObject({ ok: true, reason: null });
    });
  });

  test('a session ended in the middle of a statement: each verb says what it knows, and repeating it is safe', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const [first] = await put(backend, queue, 1);
    /** Ends the sessions of the call while they wait for a lock. */
    const cutShort = async <T>(call: () => Promise<T>): Promise<T> => {
      const blocker = await connect(store.url);
      await blocker.query('begin');
      await blocker.query('lock table surety.job in access exclusive mode');
      const answer = call().catch((error: unknown) => error as T);
      const waiting = `from pg_stat_activity
        where datname = current_database() and application_name = 'surety' and wait_event_type = 'Lock'`;
      await eventually(async () => (await store.query(`select ${waiting}`)).length > 0);
      await store.query(`select pg_terminate_backend(pid) ${waiting}`);
      const told = await answer;
      await blocker.query('rollback');
      await blocker.end();
      return told;
    };
    const job = newJob(queue);
    const [unknown] = await cutShort(() => backend.enqueue([job], CALL));
    expect(unknown).toMatchObject({ status: 'unknown', id: job.id, error: { code: 'OUTCOME_UNKNOWN' } });
    expect(await backend.enqueue([job], CALL)).toEqual([{ status: 'accepted', id: job.id }]);
    const request = claimRequest(queue);
    expect(await cutShort(() => backend.claim(request))).toMatchObject({
      code: 'BACKEND_UNAVAILABLE',
      retryable: 'yes',
    });
    const { leases } = await backend.claim(request);
    expect(leases.map(({ id, attempt }) => [id, attempt])).toEqual([
      [first, 1],
      [job.id, 1],
    ]);
    expect(await cutShort(() => backend.renew(leases, 30_000, CALL))).toMatchObject({
      code: 'BACKEND_UNAVAILABLE',
    });
    expect((await backend.renew(leases, 30_000, CALL)).map(({ status }) => status)).toEqual([
      'renewed',
      'renewed',
    ]);
    expect(
      (await cutShort(() => backend.settle(leases.map(completion), CALL))).map(({ status }) => status),
    ).toEqual(['unknown', 'unknown']);
    expect((await backend.settle(leases.map(completion), CALL)).map(({ status }) => status)).toEqual([
      'settled',
      'settled',
    ]);
  });

  test('the listening connection is rebuilt, and says so', async () => {
    const notices: Notice[] = [];
    const backend = await store.open({ pollMs: 60_000 }, notices);
    const queue = freshQueue();
    const waiting = backend.claim(claimRequest(queue, { waitMs: 60_000 }));
    const told = async (kind: string): Promise<boolean> =>
      notices.some(
        (notice) => notice.kind === kind && 'reason' in notice && notice.reason.includes('notifications'),
      );
    await eventually(
      async () =>
        (
          await store.query(
            "select from pg_stat_activity where datname = current_database() and query like 'listen%'",
          )
        ).length > 0,
    );
    await store.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen%'",
    );
    await eventually(() => told('degraded'));
    await eventually(() => told('recovered'));
    await put(await store.open(), queue, 1);
    expect((await waiting).leases).toHaveLength(1);
  });

  test('polling alone suffices, with no state on any session (B119)', async () => {
    const backend = await store.open({ listen: false });
    const queue = freshQueue();
    const waiting = backend.claim(claimRequest(queue, { waitMs: 30_000 }));
    await put(backend, queue, 1);
    const { leases } = await waiting;
    await backend.settle(leases.map(completion), CALL);
    const client = await connect(store.url);
    const prepared = await client.query(
      "select from pg_stat_activity where datname = current_database() and query ilike 'listen%'",
    );
    await client.end();
    expect(prepared.rows).toEqual([]);
  });

  test('a closed backend refuses, and closing twice is once', async () => {
    const backend = await store.open();
    const waiting = backend.claim(claimRequest(freshQueue(), { waitMs: 60_000 }));
    await Promise.all([backend.close({ graceMs: 5000 }), backend.close({ graceMs: 5000 })]);
    expect((await waiting).leases).toEqual([]);
    await expect(claimAll(backend, 'q')).rejects.toMatchObject({ code: 'BACKEND_CLOSED' });
    await expect(backend.pacing.pause('q', CALL)).rejects.toMatchObject({ code: 'BACKEND_CLOSED' });
  });
});
