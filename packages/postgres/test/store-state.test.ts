import type { Lease, Notice } from '@surety/core/contract';
import { describe, expect, test } from 'vitest';
import {
  brokenInvariants,
  CALL,
  claimAll,
  claimRequest,
  completion,
  connect,
  ERROR,
  eventually,
  freshQueue,
  newJob,
  put,
  useStore,
} from './store.ts';

const store = useStore();

describe('what is kept', () => {
  test('completed jobs leave nothing behind (B106)', async () => {
    const backend = await store.open({ schema: 'empty_after' });
    const queue = freshQueue();
    await put(backend, queue, 1000);
    for (;;) {
      const leases = await claimAll(backend, queue, { max: 300 });
      if (leases.length === 0) break;
      await backend.settle(leases.map(completion), CALL);
    }
    for (const table of ['job', 'ticket', 'claim', 'completed', 'dedupe']) {
      expect(await store.query(`select from empty_after.${table}`), table).toEqual([]);
    }
  });

  test('records of completed jobs are found while they are kept, and then swept', async () => {
    const backend = await store.open({ schema: 'kept', keepCompletedMs: 3_600_000 });
    const queue = freshQueue();
    const job = newJob(queue, { payload: '{"kept":  true}', dedupe: { key: 'k', windowMs: 1 } });
    await backend.enqueue([job, newJob(queue)], CALL);
    const [first, second] = await claimAll(backend, queue);
    const cancelled = { kind: 'complete', lease: second as Lease, outcome: 'cancelled' } as const;
    await backend.settle([completion(first as Lease), cancelled], CALL);
    const found = await backend.lookup?.find(queue, job.id, CALL);
    expect(found).toMatchObject({
      state: 'completed',
      payload: job.payload,
      attempt: 1,
      deliveries: 1,
      dedupeKey: 'k',
    });
    expect(await backend.lookup?.find(queue, second?.id ?? '', CALL)).toMatchObject({ state: 'cancelled' });
    // Sweeping is due with the first claim of a process.
    const sweeper = await store.open({ schema: 'kept', keepCompletedMs: 1 });
    await claimAll(sweeper, freshQueue());
    await eventually(async () => (await sweeper.lookup?.find(queue, job.id, CALL)) === null);
    await eventually(async () => (await store.query('select from kept.dedupe')).length === 0);
  });

  test('what a step of tending cannot take waits for the next one', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const ids = await put(backend, queue, 1200);
    for (let n = 0; n < 1200; n += 400) await claimAll(backend, queue, { max: 400, leaseMs: 500 });
    const again = new Set<string>();
    while (again.size < ids.length) {
      const leases = await claimAll(backend, queue, { max: 500, waitMs: 10_000 });
      for (const { id, attempt, lostClaims } of leases) {
        expect([attempt, lostClaims]).toEqual([2, 1]);
        again.add(id);
      }
    }
    expect(await brokenInvariants(store)).toEqual([]);
  });
});

describe('order', () => {
  test('is that of the store, whatever the ids say', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const jobs = Array.from({ length: 50 }, () => newJob(queue)).toReversed();
    await backend.enqueue(jobs, CALL);
    expect((await claimAll(backend, queue, { max: 50 })).map(({ id }) => id)).toEqual(
      jobs.map(({ id }) => id),
    );
  });

  test('a job handed back stands where it stood; one that waited lines up when it is due', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const [a, b, c] = await put(backend, queue, 3);
    const [first, second] = await claimAll(backend, queue, { max: 2 });
    await backend.settle(
      [
        { kind: 'release', lease: second as Lease, delayMs: 0, reason: 'unstarted' },
        { kind: 'retry', lease: first as Lease, delayMs: 50, error: ERROR },
      ],
      CALL,
    );
    const order: string[] = [];
    while (order.length < 3)
      order.push(...(await claimAll(backend, queue, { max: 1, waitMs: 10_000 })).map(({ id }) => id));
    expect(order).toEqual([b, c, a]);
  });

  test('of dead letters holds within one millisecond too: no page repeats or skips one (G6.2)', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const ids = await put(backend, queue, 40);
    const leases = await claimAll(backend, queue, { max: 40 });
    await backend.settle(
      leases.map((lease) => ({ kind: 'bury', lease, error: ERROR })),
      CALL,
    );
    for (const [n, id] of ids.entries()) {
      const at = `timestamptz '2026-01-01 00:00:00.5' + ${n} * interval '1 us'`;
      await store.query(`update surety.job set dead_at = ${at} where id = $1`, [id]);
    }
    const listed: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await backend.deadLetters.list({ queue, limit: 7, cursor, type: null }, CALL);
      listed.push(...page.entries.map(({ id }) => id));
      cursor = page.cursor;
    } while (cursor !== null);
    expect(listed).toEqual(ids.toReversed());
  });

  test('an old open transaction neither hides nor stops jobs (B102)', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const old = await connect(store.url);
    await old.query('begin isolation level repeatable read');
    await old.query('select count(*) from surety.job');
    const ids = await put(backend, queue, 6000);
    const done: string[] = [];
    let held: readonly Lease[] = [];
    do {
      const late = done.length === 3000 ? [newJob(queue, { priority: 0 })] : [];
      await backend.enqueue(late, CALL);
      const answer = await backend.settleAndClaim?.(held.map(completion), claimRequest(queue, { max: 500 }));
      held = answer?.claim.leases ?? [];
      // A better level is seen by the very next claim, floor or not.
      if (late[0] !== undefined) expect(held[0]?.id).toBe(late[0].id);
      done.push(...held.map(({ id }) => id).filter((id) => id !== late[0]?.id));
    } while (held.length > 0);
    expect(done.toSorted()).toEqual(ids.toSorted());
    await old.query('rollback');
    await old.end();
  });
});

describe('what open finds', () => {
  const withSetting = async (setting: string, use: () => Promise<void>): Promise<void> => {
    const database = new URL(store.url).pathname.slice(1);
    await store.query(`alter database "${database}" set ${setting}`);
    try {
      await use();
    } finally {
      await store.query(`alter database "${database}" reset ${setting.split(' ')[0]}`);
    }
  };

  test('commits that do not wait for the disk lower what is promised, with a warning', async () => {
    await withSetting('synchronous_commit = off', async () => {
      const notices: Notice[] = [];
      const backend = await store.open({}, notices);
      expect(notices).toMatchObject([{ kind: 'warning', code: 'DURABILITY_REDUCED' }]);
      expect(backend.capabilities.durability).toBe('process-crash');
    });
  });

  test('a database that may not be written is refused', async () => {
    await withSetting('default_transaction_read_only = on', async () => {
      await expect(store.open()).rejects.toMatchObject({ code: 'STORE_READ_ONLY' });
    });
  });
});
