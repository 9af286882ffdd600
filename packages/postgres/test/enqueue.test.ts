import { randomUUID } from 'node:crypto';
import type { Backend, NewJob } from '@surety/core/contract';
import { describe, expect, test } from 'vitest';
import { CALL, claimAll, completion, freshQueue, newJob, useStore } from './store.ts';

const store = useStore();

describe('enqueue', () => {
  test('payloads come back verbatim, also what jsonb refuses (B071)', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const texts = [
      '{"a":"x\\u0000y","\\u0000":[1.0,1e2]}',
      '"\\u0000"',
      '[ 1,  2 ]',
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

  test.each<[string, Partial<NewJob>]>([
    ['type', { type: 'other' }],
    ['priority', { priority: 3 }],
    ['headers', { headers: { a: 'b' } }],
    ['idempotency key', { idempotencyKey: 'own' }],
    ['delay', { delayMs: 60_000 }],
    ['expiry', { expiresInMs: 60_000 }],
    ['limit of attempts', { maxAttempts: 9 }],
    ['dedupe key', { dedupe: { key: 'k', windowMs: 60_000 } }],
    ['queue', { queue: 'another-queue' }],
  ])('one job that differs in its %s among others that are alike keeps it', async (_, own) => {
    const backend = await store.open();
    const ids = Array.from({ length: 3 }, () => randomUUID()).toSorted();
    for (const place of [0, 1, 2]) {
      const queue = freshQueue();
      const fresh = place === 0 ? ids : ids.map(() => randomUUID()).toSorted();
      const jobs = fresh.map((id, at) => newJob(queue, { id, ...(at === place && own) }));
      expect((await backend.enqueue(jobs, CALL)).map(({ status }) => status)).toEqual([
        'accepted',
        'accepted',
        'accepted',
      ]);
      for (const job of jobs) expect(await storedAs(job)).toEqual(asGiven(job));
    }
  });

  test('bad items are judged alone, however they are bad (B005)', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const jobs = [
      newJob(queue),
      newJob(queue, { payload: '{broken' }),
      newJob(queue, { payload: '{broken}' }),
      newJob(queue, { payload: '1,2' }),
      newJob(queue, { payload: '[1],[2]' }),
      newJob(queue, { payload: '"cut off' }),
      newJob(queue, { payload: '' }),
      newJob(queue, { payload: ' 1' }),
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
      ...Array.from({ length: 8 }, () => 'PAYLOAD_NOT_SUPPORTED'),
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

function asGiven(job: NewJob): object {
  const { type, queue, priority, headers, idempotencyKey, maxAttempts, dedupe } = job;
  return {
    type,
    queue,
    priority,
    headers: Object.keys(headers).length === 0 ? null : headers,
    idempotency_key: idempotencyKey === job.id ? null : idempotencyKey,
    max_attempts: maxAttempts,
    dedupe_key: dedupe?.key ?? null,
    state: job.delayMs > 0 ? 1 : 0,
    delay_ms: job.delayMs,
    expires_in_ms: job.expiresInMs,
    stands_in_line: job.delayMs <= 0,
  };
}

async function storedAs({ id }: NewJob): Promise<unknown> {
  const [row] = await store.query(
    `select type, queue, priority, headers, idempotency_key, max_attempts, dedupe_key, state,
       (date_part('epoch', due_at - created_at) * 1000)::int as delay_ms,
       (date_part('epoch', expires_at - created_at) * 1000)::int as expires_in_ms,
       exists (
         select from surety.ticket
         where queue = job.queue and priority = job.priority and ids[job.seq - ticket.seq + 1] = id
           and ticket.fence + job.seq - ticket.seq = job.fence
       ) as stands_in_line
     from surety.job where id = $1`,
    [id],
  );
  return row;
}
