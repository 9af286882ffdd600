import type { Lease } from '@surety/core/contract';
import { describe, expect, test } from 'vitest';
import { CALL, claimAll, claimRequest, completion, connect, freshQueue, newJob, useStore } from './store.ts';

const store = useStore();

describe("the application's own transaction", () => {
  test('no commit, no job; with the commit, both the row and the job, under load (B121)', async () => {
    const backend = await store.open();
    const worker = await store.open();
    const queue = freshQueue();
    await store.query('create table own_row (id uuid primary key)');
    const clients = await Promise.all(Array.from({ length: 4 }, () => connect(store.url)));
    const committed = new Set<string>();
    const seen = new Set<string>();
    let producing = true;
    const consume = async (): Promise<void> => {
      while (producing || seen.size < committed.size) {
        const leases: readonly Lease[] = await claimAll(worker, queue, { waitMs: 100 });
        for (const { id } of leases) {
          expect(
            await store.query('select from own_row where id = $1', [id]),
            'the row is there',
          ).toHaveLength(1);
          seen.add(id);
        }
        await worker.settle(leases.map(completion), CALL);
      }
    };
    const consuming = consume();
    await Promise.all(
      clients.map(async (client, n) => {
        for (let round = 0; round < 125; round++) {
          const job = newJob(queue);
          await client.query('begin');
          const [outcome] = (await backend.transactional?.enqueue(client, [job], CALL)) ?? [];
          expect(outcome).toEqual({ status: 'accepted', id: job.id });
          await client.query('insert into own_row (id) values ($1)', [job.id]);
          const keeps = (round + n) % 2 === 0;
          await client.query(keeps ? 'commit' : 'rollback');
          if (keeps) committed.add(job.id);
        }
      }),
    );
    producing = false;
    await consuming;
    expect([...seen].toSorted()).toEqual([...committed].toSorted());
    for (const client of clients) await client.end();
  });

  test('a delay counts from the enqueue, not from the begin of a long transaction', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const client = await connect(store.url);
    await client.query('begin');
    await client.query('select pg_sleep(1.5)');
    const job = newJob(queue, { delayMs: 60_000 });
    await backend.transactional?.enqueue(client, [job], CALL);
    await client.query('commit');
    await client.end();
    const view = await backend.lookup?.find(queue, job.id, CALL);
    expect(view?.dueInMs).toBeGreaterThan(59_000 - 1000 * 10);
    const [row] = await store.query<{ late: number }>(
      'select extract(epoch from (due_at - created_at))::float8 as late from surety.job where id = $1',
      [job.id],
    );
    expect(row?.late).toBe(60);
    const [age] = await store.query<{ begun: boolean }>(
      "select created_at > (select min(created_at) from surety.job where queue = $1) - interval '1 s' as begun from surety.job where id = $2",
      [queue, job.id],
    );
    expect(age?.begun).toBe(true);
  });

  test('an id that is stored already is a duplicate and breaks nothing: the transaction goes on (G1.4)', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const stored = newJob(queue);
    await backend.enqueue([stored], CALL);
    const client = await connect(store.url);
    await client.query('begin');
    const fresh = newJob(queue);
    expect(await backend.transactional?.enqueue(client, [stored, fresh], CALL)).toEqual([
      { status: 'duplicate', id: stored.id, of: stored.id },
      { status: 'accepted', id: fresh.id },
    ]);
    await client.query('commit');
    await client.end();
    expect((await backend.counts(queue, CALL)).ready.value).toBe(2);
  });

  test('the hint comes with the commit', async () => {
    const backend = await store.open({ pollMs: 60_000 });
    const queue = freshQueue();
    const client = await connect(store.url);
    await claimAll(backend, queue, { waitMs: 50 });
    const waiting = backend.claim(claimRequest(queue, { waitMs: 30_000 }));
    await client.query('begin');
    await backend.transactional?.enqueue(client, [newJob(queue)], CALL);
    await client.query('commit');
    expect((await waiting).leases).toHaveLength(1);
    await client.end();
  });

  test('what is no transaction is refused; what broke it is thrown', async () => {
    const backend = await store.open();
    const tx = backend.transactional;
    await expect(tx?.enqueue({}, [newJob('q')], CALL)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    const client = await connect(store.url);
    await client.query('begin');
    await client.query('select broken').catch(() => undefined);
    await expect(tx?.enqueue(client, [newJob('q')], CALL)).rejects.toMatchObject({ adapter: 'postgres' });
    await client.query('rollback');
    await client.end();
  });
});
