import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { explain, explainText } from './million-jobs.ts';
import { connect, useStore } from './store.ts';

const QUEUE = 'big';
const READY = 100_000;
const store = useStore();
let client: pg.Client;

/** A queue that is full now, with the statistics of a time when it was nearly empty: between two looks of autovacuum every queue is so. */
beforeAll(async () => {
  await store.open();
  client = await connect(store.url);
  await client.query('alter table surety.ticket set (autovacuum_enabled = false)');
  await client.query('alter table surety.job set (autovacuum_enabled = false)');
  await fill(READY);
  await client.query('delete from surety.ticket where seq > 5');
  await client.query('analyze surety.ticket');
  await client.query('delete from surety.ticket');
  await client.query('truncate surety.job');
  await fill(READY);
});

afterAll(() => client.end());

async function fill(count: number): Promise<void> {
  await client.query(
    `with stored as (
       insert into surety.job (id, seq, fence, created_at, due_at, priority, state, queue, type, payload)
       select gen_random_uuid(), n, n, now(), now(), 1, 0, $1, 't', '{}' from generate_series(1, $2::int) n
       returning queue, priority, seq, fence, id, due_at
     )
     insert into surety.ticket (queue, priority, seq, fence, ready_at, ids)
     select queue, priority, seq, fence, due_at, array[id] from stored`,
    [QUEUE, count],
  );
}

test('the statistics would lead a plain statement to sort the whole queue', async () => {
  await client.query('begin');
  const plain = await explainText(
    client,
    `select ctid from surety.ticket where queue = '${QUEUE}' and priority = 1 and seq > 0 order by seq limit 500 for update skip locked`,
  );
  await client.query('rollback');
  expect(plain.sorted).toBeGreaterThan(READY / 2);
});

test('a claim walks along its index all the same', async () => {
  const claim = [QUEUE, 500, 30_000, randomUUID(), '{0,0,0,0}'];
  const { pages } = await explain(client, 'claim', claim, 'force_custom_plan');
  expect(pages).toBeLessThan(500 * 12);
});

test('and so does a worker that has nothing to do', async () => {
  const { pages } = await explain(client, 'tend', [QUEUE, 50, 500, 0], 'force_custom_plan');
  expect(pages).toBeLessThan(1500);
});
