import { randomUUID } from 'node:crypto';
import type { Backend, Notice } from '@surety/core/contract';
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
  useStore,
} from './store.ts';

const store = useStore();

describe('enqueue', () => {
  test('payloads come back verbatim, also what jsonb refuses (B071)', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const texts = [
      '{"a":"x\\u0000y","\\u0000":[1.0,1e2]}',
      '"\\u0000"',
      ' [ 1,  2 ] ',
      'null',
      '{"a":1,"a":2}',
      '"\\ud83d\\ude00😀"',
    ];
    const jobs = texts.map((payload) => newJob(queue, { payload }));
    expect((await backend.enqueue(jobs, CALL)).every(({ status }) => status === 'accepted')).toBe(true);
    for (const [index, job] of jobs.entries()) {
      expect((await backend.lookup?.find(queue, job.id, CALL))?.payload).toBe(texts[index]);
    }
    const values = (await claimAll(backend, queue)).map(({ payload }) => payload);
    expect(values).toEqual(texts.map((text) => ({ value: JSON.parse(text) })));
  });

  test('bad items are judged alone, however they are bad (B005)', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const jobs = [
      newJob(queue),
      newJob(queue, { payload: '{broken' }),
      newJob(queue, { payload: '"raw \u0001 control"' }),
      newJob(queue),
      newJob(queue, { payload: deep }),
      newJob(queue, { idempotencyKey: 'nul \u0000' }),
      newJob(queue, { priority: 4 }),
      newJob('Not Allowed'),
      newJob(queue, { payload: JSON.stringify('x'.repeat(1024 * 1024)) }),
      newJob(queue),
    ];
    const outcomes = await backend.enqueue(jobs, CALL);
    expect(
      outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.error.code : outcome.status)),
    ).toEqual([
      'accepted',
      'PAYLOAD_NOT_SUPPORTED',
      'PAYLOAD_NOT_SUPPORTED',
      'accepted',
      'PAYLOAD_NOT_SUPPORTED',
      'PAYLOAD_NOT_SUPPORTED',
      'LIMIT_EXCEEDED',
      'OPTIONS_INVALID',
      'PAYLOAD_TOO_LARGE',
      'accepted',
    ]);
    expect((await backend.counts(queue, CALL)).ready.value).toBe(3);
  });

  test('one key, eight rivals: one job, and all learn its id', async () => {
    const rivals: Backend[] = await Promise.all(Array.from({ length: 8 }, () => store.open({ poolSize: 2 })));
    const queue = freshQueue();
    for (let round = 0; round < 10; round++) {
      const dedupe = { key: `key ${round}`, windowMs: 60_000 };
      const answers = await Promise.all(
        rivals.map((rival) => rival.enqueue([newJob(queue, { dedupe }), newJob(queue, { dedupe })], CALL)),
      );
      const accepted = answers.flat().filter(({ status }) => status === 'accepted');
      expect(accepted).toHaveLength(1);
      const holder = accepted[0]?.id;
      for (const answer of answers.flat()) if (answer.status === 'duplicate') expect(answer.of).toBe(holder);
      expect(await rivals[0]?.dedupe?.owner(queue, dedupe.key, CALL)).toBe(holder);
    }
  });

  test('batches of the same ids in opposite order never fail, each id is stored once', async () => {
    const rivals: Backend[] = await Promise.all(Array.from({ length: 8 }, () => store.open({ poolSize: 2 })));
    const queue = freshQueue();
    for (let round = 0; round < 5; round++) {
      const jobs = Array.from({ length: 50 }, () => newJob(queue));
      const answers = await Promise.all(
        rivals.map((rival, n) => rival.enqueue(n % 2 === 0 ? jobs : jobs.toReversed(), CALL)),
      );
      const accepted = answers
        .flat()
        .filter(({ status }) => status === 'accepted')
        .map(({ id }) => id);
      expect(accepted.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
      expect(answers.flat().filter(({ status }) => status === 'duplicate')).toHaveLength(7 * 50);
    }
  });

  test('an id that is stored does not take a key on its second way', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const job = newJob(queue);
    await backend.enqueue([job], CALL);
    const dedupe = { key: 'late', windowMs: 60_000 };
    expect(await backend.enqueue([{ ...job, dedupe }], CALL)).toEqual([
      { status: 'duplicate', id: job.id, of: job.id },
    ]);
    expect(await backend.dedupe?.owner(queue, 'late', CALL)).toBeNull();
  });

  test('numbers past 2^31 change nothing (B104)', async () => {
    const backend = await store.open({ schema: 'wide' });
    const columns = await store.query(
      `select column_name from information_schema.columns
       where table_schema = 'wide' and (column_name in ('seq', 'fence', 'part') or column_default like 'nextval%') and data_type <> 'bigint'`,
    );
    expect(columns).toEqual([]);
    const sequences = await store.query<{ name: string; data_type: string }>(
      "select sequencename as name, data_type::text from pg_sequences where schemaname = 'wide'",
    );
    expect(sequences.length).toBeGreaterThan(0);
    for (const { name, data_type } of sequences) {
      expect(data_type).toBe('bigint');
      await store.query(`select setval('wide.${name}', 2147483647)`);
    }
    const queue = freshQueue();
    const jobs = Array.from({ length: 10 }, () => newJob(queue));
    await backend.enqueue(jobs, CALL);
    for (let n = 0; n < 20; n++) await backend.enqueue(jobs, CALL);
    const leases = await claimAll(backend, queue);
    expect(leases).toHaveLength(10);
    expect(leases.every(({ token }) => token.fence >= 2 ** 31 && Number.isSafeInteger(token.fence))).toBe(
      true,
    );
    const outcomes = await backend.settle(leases.map(completion), CALL);
    expect(outcomes.every(({ status }) => status === 'settled')).toBe(true);
  });
});

describe('notifications', () => {
  test('carry the queue and nothing else, whatever is enqueued (B077)', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const heard: (string | undefined)[] = [];
    const ear = await connect(store.url);
    ear.on('notification', ({ payload }) => heard.push(payload));
    await ear.query('listen "surety_surety"');
    const stop = new AbortController();
    const waiting = backend.claim(claimRequest(freshQueue(), { waitMs: 60_000, signal: stop.signal }));
    await store.query("insert into surety.idle (queue, until) values ($1, now() + interval '1 minute')", [
      queue,
    ]);
    for (const kib of [7, 9, 900]) {
      const [outcome] = await backend.enqueue(
        [newJob(queue, { payload: JSON.stringify('x'.repeat(kib * 1024)) })],
        CALL,
      );
      expect(outcome?.status).toBe('accepted');
    }
    await backend.enqueue(
      Array.from({ length: 500 }, () => newJob(queue)),
      CALL,
    );
    await eventually(async () => heard.length >= 4);
    expect(new Set(heard)).toEqual(new Set([queue]));
    expect(heard).toHaveLength(4);
    stop.abort();
    await waiting;
    await ear.end();
  });

  test('are not sent where nobody waits', async () => {
    const backend = await store.open();
    const heard: unknown[] = [];
    const ear = await connect(store.url);
    ear.on('notification', ({ payload }) => heard.push(payload));
    await ear.query('listen "surety_surety"');
    await backend.enqueue([newJob(freshQueue())], CALL);
    const mark = randomUUID();
    await store.query('select pg_notify($1, $2)', ['surety_surety', mark]);
    await eventually(async () => heard.length > 0);
    expect(heard).toEqual([mark]);
    await ear.end();
  });

  test('wake a claim that is about to sleep: none is lost (B077)', async () => {
    const [worker, producer] = [await store.open({ pollMs: 60_000 }), await store.open()];
    const queue = freshQueue();
    await claimAll(worker, queue, { waitMs: 50 });
    // Without a hint each of these would take until the idle mark is renewed.
    for (let round = 0; round < 30; round++) {
      const waiting = worker.claim(claimRequest(queue, { waitMs: 30_000 }));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
      await producer.enqueue([newJob(queue)], CALL);
      const { leases } = await waiting;
      expect(leases).toHaveLength(1);
      await worker.settle(leases.map(completion), CALL);
    }
  });

  test.each([
    ['the role may not', '42501', 'permission denied for function pg_notify'],
    ['its queue is full', '54000', 'too many notifications in the NOTIFY queue'],
  ])('a server that refuses them because %s does not refuse the job (B077)', async (_, state, message) => {
    const notices: Notice[] = [];
    const database = new URL(store.url).pathname.slice(1);
    const queue = freshQueue();
    // Stands before the server's own function for connections made from now on.
    await store.query('create schema if not exists refusing');
    await store.query(
      `create or replace function refusing.pg_notify(text, text) returns void language plpgsql as
       $$ begin raise exception using errcode = '${state}', message = '${message}'; end $$`,
    );
    await store.query(`alter database "${database}" set search_path = refusing, pg_catalog`);
    try {
      const backend = await store.open({}, notices);
      await store.query("insert into surety.idle (queue, until) values ($1, now() + interval '1 minute')", [
        queue,
      ]);
      expect(await backend.enqueue([newJob(queue), newJob(queue)], CALL)).toMatchObject([
        { status: 'accepted' },
        { status: 'accepted' },
      ]);
      expect((await backend.counts(queue, CALL)).ready.value).toBe(2);
      expect(notices.map(({ kind }) => kind)).toEqual(['degraded']);
    } finally {
      await store.query(`alter database "${database}" reset search_path`);
    }
  });
});
