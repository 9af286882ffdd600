import { randomUUID } from 'node:crypto';
import { runPsql, sharedPostgres } from '@surety/testbed';
import { beforeAll, describe, expect, test } from 'vitest';
import { CALL, claimAll, connect, freshQueue, useStore } from './store.ts';

const store = useStore();

beforeAll(async () => {
  const backend = await store.open();
  await backend.close({ graceMs: 5000 });
});

const LONE = '\\ud800';

describe('what the function refuses', () => {
  test.each([
    ['a type with a blank', `'no good', '{}'`, '22023', 'OPTIONS_INVALID', "'no good' is not a job type"],
    ['a type that is null', `null, '{}'`, '22023', 'OPTIONS_INVALID', 'NULL is not a job type'],
    [
      'a type with a line break at its end',
      `E'mail\\n', '{}'`,
      '22023',
      'OPTIONS_INVALID',
      'is not a job type',
    ],
    ['a queue in capitals', `'t', '{}', 'Mail'`, '22023', 'OPTIONS_INVALID', "'Mail' is not a queue name"],
    ['a queue of 41 characters', `'t', '{}', repeat('q', 41)`, '22023', 'OPTIONS_INVALID', 'queue name'],
    ['text that is no JSON', `'t', '{broken'`, '22P02', '', 'invalid input syntax for type json'],
    ['a raw control character', `'t', E'"\\x01"'`, '22P02', '', 'invalid input syntax for type json'],
    ['half of a surrogate pair', `'t', '"${LONE}"'`, '22P05', 'PAYLOAD_NOT_SUPPORTED', 'surrogate'],
    ['two first halves', `'t', '"${LONE}${LONE}"'`, '22P05', 'PAYLOAD_NOT_SUPPORTED', 'surrogate'],
    ['halves apart', `'t', '"\\uD83D\\\\\\uDE00"'`, '22P05', 'PAYLOAD_NOT_SUPPORTED', 'surrogate'],
    ['a payload that is null', `'t', null::jsonb`, '22004', 'PAYLOAD_NOT_SUPPORTED', 'the payload is null'],
    [
      'more than 200 KiB',
      `'t', to_json(repeat('x', 204800 - 513))`,
      '54000',
      'PAYLOAD_TOO_LARGE',
      '204801 bytes',
    ],
    ['two bytes a character', `'t', to_json(repeat('ä', 102400))`, '54000', 'PAYLOAD_TOO_LARGE', 'bytes'],
    ['a negative delay', `'t', '1', delay => '-1 s'`, '22023', 'OPTIONS_INVALID', 'the delay of'],
    [
      'a delay of 367 days',
      `'t', '1', delay => '367 days'`,
      '22023',
      'OPTIONS_INVALID',
      'the delay of 367 days',
    ],
    [
      'an instant too far',
      `'t', '1', run_at => now() + interval '367 days'`,
      '22023',
      'OPTIONS_INVALID',
      'run_at',
    ],
    ['no instant at all', `'t', '1', run_at => 'infinity'`, '22023', 'OPTIONS_INVALID', 'run_at'],
    [
      'both delay and instant',
      `'t', '1', delay => '1 s', run_at => now()`,
      '22023',
      'OPTIONS_INVALID',
      'both',
    ],
    ['a priority of 4', `'t', '1', priority => 4`, '22023', 'OPTIONS_INVALID', 'priority 4'],
    ['a priority of -1', `'t', '1', priority => -1`, '22023', 'OPTIONS_INVALID', 'priority -1'],
    ['an empty key', `'t', '1', dedupe_key => ''`, '22023', 'OPTIONS_INVALID', 'dedupe_key has 0 characters'],
    ['a long key', `'t', '1', dedupe_key => repeat('k', 257)`, '22023', 'OPTIONS_INVALID', '257 characters'],
    [
      'a window without a key',
      `'t', '1', dedupe_window => '1 s'`,
      '22023',
      'OPTIONS_INVALID',
      'without dedupe_key',
    ],
    [
      'no window',
      `'t', '1', dedupe_key => 'k', dedupe_window => '0 s'`,
      '22023',
      'OPTIONS_INVALID',
      'dedupe_window',
    ],
    [
      'a long idempotency key',
      `'t', '1', idempotency_key => repeat('k', 257)`,
      '22023',
      'OPTIONS_INVALID',
      'idempotency_key',
    ],
    ['no attempt', `'t', '1', max_attempts => 0`, '22023', 'OPTIONS_INVALID', 'max_attempts 0'],
    [
      'headers that are a list',
      `'t', '1', headers => '[]'`,
      '22023',
      'OPTIONS_INVALID',
      'not an object: array',
    ],
    ['a header that is a number', `'t', '1', headers => '{"a":1}'`, '22023', 'OPTIONS_INVALID', 'no text'],
    [
      'headers of more than 8 KiB',
      `'t', '1', headers => jsonb_build_object('a', repeat('x', 8192))`,
      '54000',
      'LIMIT_EXCEEDED',
      '8192',
    ],
    ['a depth of 0', `'t', '1', max_depth => 0`, '22023', 'OPTIONS_INVALID', 'max_depth 0'],
    ['an id that is no UUID', `'t', '1', id => 'order-1'`, '22P02', '', 'invalid input syntax for type uuid'],
    ['an expiry without end', `'t', '1', expires_at => 'infinity'`, '22023', 'OPTIONS_INVALID', 'expires_at'],
  ])('%s', async (_, given, state, code, message) => {
    const { code: exit, output } = await runPsql(store.url, `select surety.enqueue(${given})`);
    expect(exit).not.toBe(0);
    expect(output).toContain(`ERROR:  ${state}: `);
    expect(output).toContain(message);
    if (code !== '') expect(output).toMatch(new RegExp(`DETAIL: +${code}\n`));
    if (code !== '') expect(output).toMatch(/HINT: +\S/);
    expect(await store.query('select from surety.job')).toEqual([]);
    expect(await store.query('select from surety.dedupe')).toEqual([]);
  });

  test('what looks like half of a pair and is none is taken', async () => {
    const queue = freshQueue();
    const texts = ['"\\\\ud800"', '"\\ud83d\\ude00"', '"\\\\\\ud83d\\uDE00\\\\udc00"', '"😀"'];
    const client = await connect(store.url);
    // Also for a session in which a backslash in a literal means something else.
    await client.query('set standard_conforming_strings = off');
    for (const text of texts) await client.query(`select surety.enqueue('t', $1, '${queue}')`, [text]);
    await client.end();
    const values = (await claimAll(await store.open(), queue)).map(({ payload }) => payload);
    expect(values).toEqual(texts.map((text) => ({ value: JSON.parse(text) as unknown })));
    await store.query('delete from surety.job');
  });

  test('past the depth given, until there is room again (G7.3)', async () => {
    const queue = freshQueue();
    const call = (delay: string): string =>
      `select status from surety.enqueue('t', '1', '${queue}', delay => '${delay}', max_depth => 2)`;
    expect((await runPsql(store.url, call('0'), call('1 h'))).output).toBe('accepted\naccepted\n');
    const { output } = await runPsql(store.url, call('0'));
    expect(output).toContain('ERROR:  53400: ');
    expect(output).toMatch(/DETAIL: +QUEUE_FULL/);
    await claimAll(await store.open(), queue);
    expect((await runPsql(store.url, call('0'))).output).toBe('accepted\n');
  });
});

describe('whose rights it has', () => {
  test('those of the caller: a role with these grants enqueues, one without is refused', async () => {
    const queue = freshQueue();
    const role = `producer_${randomUUID().slice(0, 8)}`;
    const server = await sharedPostgres();
    const admin = await connect(server.adminUrl);
    await admin.query(`create role ${role} login password 'word'`);
    const limited = new URL(store.url);
    limited.username = role;
    limited.password = 'word';
    const call = `select status from surety.enqueue('t', '1', '${queue}', dedupe_key => gen_random_uuid()::text, max_depth => 100)`;
    try {
      await store.query(`grant usage on schema surety to ${role}`);
      expect((await runPsql(limited.href, call)).output).toContain('42501');
      await store.query(`
        grant usage on sequence surety.job_seq to ${role};
        grant select, insert on surety.job, surety.ticket to ${role};
        grant select, insert, update on surety.dedupe to ${role};
        grant select, update, delete on surety.idle_mark to ${role}`);
      await store.query("insert into surety.idle_mark values ($1, now() + interval '1 minute')", [queue]);
      expect((await runPsql(limited.href, call, call)).output).toBe('accepted\naccepted\n');
      expect((await runPsql(limited.href, 'delete from surety.job')).output).toContain('42501');
    } finally {
      await store.query(`
        revoke all on all tables in schema surety from ${role};
        revoke all on all sequences in schema surety from ${role};
        revoke all on schema surety from ${role}`);
      await admin.query(`drop role ${role}`);
      await admin.end();
    }
  });

  test('a search path of the caller changes nothing of what it calls', async () => {
    const queue = freshQueue();
    const { output } = await runPsql(
      store.url,
      'create schema trap',
      `create function trap.clock_timestamp() returns timestamptz language sql as $$ select '2001-01-01'::timestamptz $$`,
      `create function trap.octet_length(text) returns int language sql as $$ select 0 $$`,
      'create temp table job (id int)',
      'set search_path = trap, pg_temp, pg_catalog',
      `select status from surety.enqueue('t', '1', '${queue}')`,
    );
    expect(output).toBe('accepted\n');
    expect(
      await store.query(
        "select created_at > now() - interval '1 day' as today from surety.job where queue = $1",
        [queue],
      ),
    ).toEqual([{ today: true }]);
  });

  test('a schema of another name has its own', async () => {
    const backend = await store.open({ schema: 'Other_Jobs' });
    const queue = freshQueue();
    const call = `select status from "Other_Jobs".enqueue('t', jsonb_build_object('n', 1), '${queue}')`;
    await store.query(`insert into "Other_Jobs".idle_mark values ($1, now() + interval '1 minute')`, [queue]);
    const ear = await connect(store.url);
    const heard: (string | undefined)[] = [];
    ear.on('notification', ({ payload }) => heard.push(payload));
    await ear.query('listen "surety_Other_Jobs"');
    expect((await runPsql(store.url, call)).output).toBe('accepted\n');
    expect((await backend.counts(queue, CALL)).ready.value).toBe(1);
    await ear.query('select 1');
    expect(heard).toEqual([queue]);
    await ear.end();
  });
});
