import { createClient, createWorker, defineJob, handle, type JobContext } from '@surety/core';
import type { Lease } from '@surety/core/contract';
import { runPsql } from '@surety/testbed';
import { beforeAll, describe, expect, test } from 'vitest';
import { CALL, claimAll, completion, connect, eventually, freshQueue, newJob, useStore } from './store.ts';

const store = useStore();
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

beforeAll(async () => {
  const backend = await store.open();
  await backend.close({ graceMs: 5000 });
});

/** What psql printed; a command that failed fails the test. */
async function psql(...commands: string[]): Promise<string> {
  const { code, output } = await runPsql(store.url, ...commands);
  expect(code, output).toBe(0);
  return output.trim();
}

/** What psql said of a command that must fail. */
async function refusal(command: string): Promise<string> {
  const { code, output } = await runPsql(store.url, command);
  expect(code, output).not.toBe(0);
  return output;
}

async function stored(queue: string): Promise<number> {
  return (await store.query('select from surety.job where queue = $1', [queue])).length;
}

describe('enqueue by psql', () => {
  test('a plain call answers a new id of version 7 and stores the text as it is', async () => {
    const queue = freshQueue();
    const before = Date.now();
    const answer = await psql(
      `select * from surety.enqueue('mail.send', ' {"to":  "\\u0000 \\ud83d\\ude00"}', '${queue}')`,
    );
    expect(answer).toMatch(new RegExp(`^${UUID}\\|accepted$`));
    const madeAt = Number.parseInt(answer.replaceAll('-', '').slice(0, 12), 16);
    expect(Math.abs(madeAt - before)).toBeLessThan(60_000);
    const backend = await store.open();
    const [lease] = await claimAll(backend, queue);
    expect(lease).toMatchObject({
      id: answer.split('|')[0],
      type: 'mail.send',
      idempotencyKey: answer.split('|')[0],
      headers: {},
      attempt: 1,
      maxAttempts: null,
      payload: { value: { to: '\u0000 😀' } },
    });
    expect(await backend.settle([completion(lease as Lease)], CALL)).toEqual([{ status: 'settled' }]);
  });

  test('text, json, jsonb, varchar and untyped parameters are all payloads', async () => {
    const queue = freshQueue();
    const client = await connect(store.url);
    for (const payload of [
      `'{"n": 1}'`,
      `'{"n": 1}'::text`,
      `'{"n": 1}'::varchar`,
      `'{"n": 1}'::json`,
      `'{"n": 1}'::jsonb`,
      `json_build_object('n', 1)`,
      `to_jsonb(x)`,
      `row_to_json(x)`,
    ]) {
      await client.query(
        `select e.status from (select 1 as n) x, surety.enqueue('t', ${payload}, queue => '${queue}') e`,
      );
    }
    await client.query('select surety.enqueue($1, $2, $3)', ['t', { n: 1 }, queue]);
    await client.end();
    const leases = await claimAll(await store.open(), queue);
    expect(leases.map(({ payload }) => payload)).toEqual(
      Array.from({ length: 9 }, () => ({ value: { n: 1 } })),
    );
  });

  test('every option arrives as if it came from TypeScript', async () => {
    const queue = freshQueue();
    const backend = await store.open();
    const client = createClient({ backend });
    const definition = defineJob<{ n: number }>('both.ways', { queue });
    const ids = ['00000000-0000-4000-8000-0000000000aa', '00000000-0000-4000-8000-0000000000bb'] as const;
    const expiresAt = new Date(Date.now() + 7_200_000);
    await client.enqueue(
      definition,
      { n: 1 },
      {
        id: ids[0],
        delay: '1h',
        priority: 2,
        dedupeKey: 'one',
        dedupeWindow: '2h',
        headers: { tenant: 'Zoë "x"' },
        idempotencyKey: 'pay-1',
        maxAttempts: 3,
        expiresAt,
      },
    );
    await psql(
      `select surety.enqueue(type => 'both.ways', payload => '{"n":1}', queue => '${queue}', id => '${ids[1]}', delay => '1 hour',
         priority => 2, dedupe_key => 'two', dedupe_window => '2 hours', headers => '{"tenant": "Zoë \\"x\\""}',
         idempotency_key => 'pay-1', max_attempts => 3, expires_at => '${expiresAt.toISOString()}')`,
    );
    const [ours, theirs] = await store.query<Record<string, unknown>>(
      `select type, queue, state, attempt, deliveries, lost_claims, interruptions, redrives, max_attempts, priority, backed_off,
         idempotency_key, headers, payload::text, seq = fence as first_fence, due_at - created_at as delay, dead_at, history,
         abs(extract(epoch from expires_at - $2::timestamptz)) < 60 as expires
       from surety.job where queue = $1 order by id`,
      [queue, expiresAt],
    );
    expect(theirs).toEqual(ours);
    expect(
      await store.query(
        'select key, until - now() > interval $$1 hour$$ as lives from surety.dedupe where queue = $1 order by key',
        [queue],
      ),
    ).toEqual([
      { key: 'one', lives: true },
      { key: 'two', lives: true },
    ]);
    await client.close();
  });

  test('a worker runs it: payload, attempt limit, headers, retry (G4.1)', async () => {
    const queue = freshQueue();
    const backend = await store.open();
    const seen: Pick<JobContext, 'attempt' | 'maxAttempts' | 'headers' | 'idempotencyKey' | 'id'>[] = [];
    const dead: string[] = [];
    const definition = defineJob<unknown>('from.sql', { queue, retry: { maxAttempts: 9, base: 1, cap: 1 } });
    const worker = createWorker({
      backend,
      log: 'none',
      onDead: ({ jobId }) => dead.push(jobId),
      handlers: [
        handle(definition, (input, context) => {
          expect(input).toEqual({ order: 7 });
          seen.push(context);
          throw new Error('not today');
        }),
      ],
    });
    await worker.start();
    const answer = await psql(
      `select id from surety.enqueue('from.sql', jsonb_build_object('order', 7), '${queue}', max_attempts => 2,
         headers => jsonb_build_object('tenant', 'a'), idempotency_key => 'k')`,
    );
    await eventually(async () => dead.length > 0);
    await worker.stop();
    expect(dead).toEqual([answer]);
    expect(
      seen.map(({ attempt, maxAttempts, headers, idempotencyKey, id }) => [
        attempt,
        maxAttempts,
        headers,
        idempotencyKey,
        id,
      ]),
    ).toEqual([1, 2].map((attempt) => [attempt, 2, { tenant: 'a' }, 'k', answer]));
  });

  test('from a trigger: one job a row, in the transaction of the row (G1.4, B121)', async () => {
    const queue = freshQueue();
    await psql(
      'create table orders (id int primary key, total numeric)',
      `create function order_created() returns trigger language plpgsql as $$
       begin
         perform surety.enqueue('order.created', to_jsonb(new), queue => '${queue}', dedupe_key => 'order-' || new.id);
         return null;
       end $$`,
      'create trigger order_created after insert on orders for each row execute function order_created()',
      'begin',
      'insert into orders values (1, 9.50)',
      'rollback',
    );
    expect(await stored(queue)).toBe(0);
    await psql('insert into orders select n, n * 1.5 from generate_series(1, 300) n');
    // A refusal by the function undoes the row too.
    await psql(`create or replace function order_created() returns trigger language plpgsql as $$
      begin perform surety.enqueue('no good type', '{}'); return null; end $$`);
    expect(await refusal('insert into orders values (1000, 1)')).toContain('is not a job type');
    expect(await psql('select count(*) from orders')).toBe('300');
    const leases = await claimAll(await store.open(), queue, { max: 500 });
    expect(leases.map(({ payload }) => payload)).toEqual(
      Array.from({ length: 300 }, (_, n) => ({ value: { id: n + 1, total: (n + 1) * 1.5 } })),
    );
  });

  test('no commit, no job and no key; with a savepoint rolled back, only the rest', async () => {
    const queue = freshQueue();
    const call = (key: string): string =>
      `select surety.enqueue('t', '1', '${queue}', dedupe_key => '${key}')`;
    await psql('begin', call('a'), call('b'), 'rollback');
    expect(await stored(queue)).toBe(0);
    expect(await psql('begin', call('a'), 'savepoint s', call('b'), 'rollback to s', 'commit')).toContain(
      'accepted',
    );
    expect(await store.query('select key from surety.dedupe where queue = $1', [queue])).toEqual([
      { key: 'a' },
    ]);
    expect(await stored(queue)).toBe(1);
  });

  test('an id that is stored, and a key that is held, are duplicates (G3.2, G3.3)', async () => {
    const queue = freshQueue();
    const id = '00000000-0000-4000-8000-000000000001';
    const other = '00000000-0000-4000-8000-000000000002';
    const call = (rest: string): Promise<string> =>
      psql(`select * from surety.enqueue('t', '1', '${queue}', ${rest})`);
    expect(await call(`id => '${id}', dedupe_key => 'k'`)).toBe(`${id}|accepted`);
    expect(await call(`id => '${id}'`)).toBe(`${id}|duplicate`);
    expect(await call(`dedupe_key => 'k'`)).toBe(`${id}|duplicate`);
    // An id that is stored takes no key on its second way.
    expect(await call(`id => '${id}', dedupe_key => 'late'`)).toBe(`${id}|duplicate`);
    expect(await call(`id => '${other}', dedupe_key => 'late'`)).toBe(`${other}|accepted`);
    // Both ways see each other's keys and ids.
    const backend = await store.open();
    const dedupe = { key: 'k', windowMs: 1000 };
    expect(
      await backend.enqueue([newJob(queue, { dedupe }), newJob(queue, { id: other })], CALL),
    ).toMatchObject([
      { status: 'duplicate', of: id },
      { status: 'duplicate', of: other },
    ]);
    expect(await stored(queue)).toBe(2);
    // The window has passed.
    await store.query('update surety.dedupe set until = now() where queue = $1', [queue]);
    expect(await call(`dedupe_key => 'k'`)).toMatch(/accepted$/);
  });

  test('one key, eight sessions at once: one job, and all learn its id', async () => {
    const queue = freshQueue();
    const clients = await Promise.all(Array.from({ length: 8 }, () => connect(store.url)));
    for (let round = 0; round < 20; round++) {
      const answers = await Promise.all(
        clients.map(async (client) => {
          const { rows } = await client.query<{ id: string; status: string }>(
            `select * from surety.enqueue('t', '1', $1, dedupe_key => $2)`,
            [queue, `key ${round}`],
          );
          return rows[0];
        }),
      );
      expect(answers.filter((answer) => answer?.status === 'accepted')).toHaveLength(1);
      expect(new Set(answers.map((answer) => answer?.id)).size).toBe(1);
    }
    for (const client of clients) await client.end();
  });

  test('a delay and an instant count from the call, by the clock of the store (G8.1)', async () => {
    const queue = freshQueue();
    const enqueue = (rest: string): string => `perform surety.enqueue('t', '1', '${queue}', ${rest});`;
    await psql(`do $$ begin
      perform pg_sleep(1.2);
      ${enqueue(`delay => '1 minute'`)}
      ${enqueue(`run_at => clock_timestamp() + interval '1 minute'`)}
      ${enqueue(`run_at => '2001-01-01'`)}
      ${enqueue(`delay => '366 days'`)}
    end $$`);
    const rows = await store.query<{ delay: number; state: number; tickets: number }>(
      `select round(extract(epoch from due_at - created_at))::int as delay, state, (select count(*)::int from surety.ticket t where job.id = any(t.ids)) as tickets
       from surety.job where queue = $1 order by seq`,
      [queue],
    );
    expect(rows).toEqual([
      { delay: 60, state: 1, tickets: 0 },
      { delay: 60, state: 1, tickets: 0 },
      { delay: 0, state: 0, tickets: 1 },
      { delay: 366 * 86_400, state: 1, tickets: 0 },
    ]);
  });
});
