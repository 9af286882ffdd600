import { fork } from 'node:child_process';
import { once } from 'node:events';
import { isSuretyError } from '@surety/core/errors';
import { sharedPostgres } from '@surety/testbed';
import { afterAll, describe, expect, test } from 'vitest';
import { migrations } from '../src/generated/migrations.ts';
import { type PostgresOptions, postgres } from '../src/index.ts';
import { bindSchema } from '../src/sql.ts';
import { CALL, claimAll, connect, newJob } from './store.ts';

const databases: string[] = [];

async function freshDatabase(): Promise<string> {
  const url = await (await sharedPostgres()).createDatabase();
  databases.push(url);
  return url;
}

afterAll(async () => {
  const server = await sharedPostgres();
  for (const url of databases) await server.dropDatabase(url);
});

async function openAndClose(options: PostgresOptions): Promise<void> {
  const backend = postgres(options);
  try {
    await backend.open({ ...CALL, notify: () => undefined });
  } finally {
    await backend.close({ graceMs: 5000 });
  }
}

async function refusal(options: PostgresOptions): Promise<string> {
  try {
    await openAndClose(options);
  } catch (error) {
    if (isSuretyError(error)) return error.code;
    throw error;
  }
  return 'opened';
}

/** Opens in a process of its own, after a word that all wait for. */
async function startOpener(url: string): Promise<{ go(): void; readonly ended: Promise<unknown> }> {
  const child = fork(new URL('./programs/open-once.ts', import.meta.url), [url]);
  await once(child, 'message');
  const ended = once(child, 'exit').then(([code]) => code as unknown);
  return { go: () => void child.send('go'), ended };
}

describe('migrations', () => {
  test('ten processes that open an empty database at once all open it, migrated once (B120)', async () => {
    for (let round = 0; round < 2; round++) {
      const url = await freshDatabase();
      const openers = await Promise.all(Array.from({ length: 10 }, () => startOpener(url)));
      for (const opener of openers) opener.go();
      expect(await Promise.all(openers.map(({ ended }) => ended))).toEqual(openers.map(() => 0));
      const client = await connect(url);
      const { rows } = await client.query('select version, name from surety.migration order by version');
      await client.end();
      expect(rows).toEqual(migrations.map(({ version, name }) => ({ version, name })));
    }
  });

  test('twenty backends of one process likewise, twenty times', async () => {
    const url = await freshDatabase();
    for (let round = 0; round < 20; round++) {
      const schema = `round_${round}`;
      await Promise.all(Array.from({ length: 10 }, () => openAndClose({ url, schema, poolSize: 1 })));
    }
  });

  test('a schema that is missing, too old or too new is refused, and says which', async () => {
    const url = await freshDatabase();
    expect(await refusal({ url, migrate: false })).toBe('SCHEMA_MISSING');
    await openAndClose({ url });
    expect(await refusal({ url, migrate: false })).toBe('opened');
    const client = await connect(url);
    await client.query('insert into surety.migration (version, name) values (1000, $1)', ['of the future']);
    expect(await refusal({ url })).toBe('SCHEMA_TOO_NEW');
    await client.query('delete from surety.migration where version >= $1', [migrations.length]);
    expect(await refusal({ url, migrate: false })).toBe(
      migrations.length === 1 ? 'SCHEMA_MISSING' : 'SCHEMA_TOO_OLD',
    );
    await client.end();
  });

  test('a schema of the first version is brought up to date with its jobs in it', async () => {
    const url = await freshDatabase();
    const client = await connect(url);
    const [first] = migrations;
    await client.query('create schema surety');
    await client.query(bindSchema(first?.sql ?? '', 'surety'));
    await client.query('create table surety.migration (version int primary key, name text not null)');
    await client.query("insert into surety.migration values (1, 'tables')");
    expect(await refusal({ url, migrate: false })).toBe('SCHEMA_TOO_OLD');
    const id = '00000000-0000-4000-8000-000000000001';
    await client.query(
      `insert into surety.job (id, seq, fence, created_at, due_at, priority, state, queue, type, payload)
       values ($1, 1, 1, now(), now(), 1, 0, 'q', 't', '{}')`,
      [id],
    );
    await client.query(
      `insert into surety.ticket (seq, fence, ready_at, priority, queue, ids) values (1, 1, now(), 1, 'q', array[$1::uuid])`,
      [id],
    );
    // A transaction of the application that has enqueued and goes on holds up no migration.
    await client.query('begin');
    await client.query('lock table surety.job, surety.ticket, surety.idle in row exclusive mode');
    const backend = postgres({ url });
    await backend.open({ ...CALL, notify: () => undefined });
    await client.query('commit');
    await client.end();
    expect((await claimAll(backend, 'q')).map((lease) => lease.id)).toEqual([id]);
    await backend.close({ graceMs: 5000 });
  });

  test('a role without CREATE works where the schema is current, and is told what is missing elsewhere (B120)', async () => {
    const url = await freshDatabase();
    await openAndClose({ url });
    const server = await sharedPostgres();
    const role = `limited_${Date.now().toString(36)}`;
    const asOwner = await connect(url);
    const asAdmin = await connect(server.adminUrl);
    await asAdmin.query(`create role ${role} login password 'word'`);
    try {
      await asOwner.query(`grant usage on schema surety to ${role}`);
      await asOwner.query(`grant select, insert, update, delete on all tables in schema surety to ${role}`);
      await asOwner.query(`grant usage on all sequences in schema surety to ${role}`);
      const limited = new URL(url);
      limited.username = role;
      limited.password = 'word';
      const backend = postgres({ url: limited.href });
      await backend.open({ ...CALL, notify: () => undefined });
      await backend.enqueue([newJob('limited')], CALL);
      expect(await claimAll(backend, 'limited')).toHaveLength(1);
      await backend.close({ graceMs: 5000 });
      expect(await refusal({ url: limited.href, schema: 'elsewhere' })).toBe('SCHEMA_MISSING');
    } finally {
      await asOwner.query(`drop owned by ${role}`).catch(() => undefined);
      await asOwner.query(`revoke all on all tables in schema surety from ${role}`);
      await asOwner.query(`revoke all on all sequences in schema surety from ${role}`);
      await asOwner.query(`revoke all on schema surety from ${role}`);
      await asAdmin.query(`drop role ${role}`);
      await asOwner.end();
      await asAdmin.end();
    }
  });

  test('two schemas in one database do not meet', async () => {
    const url = await freshDatabase();
    const [one, two] = [postgres({ url, schema: 'One' }), postgres({ url, schema: 'one' })];
    for (const backend of [one, two]) await backend.open({ ...CALL, notify: () => undefined });
    await one.enqueue([newJob('q')], CALL);
    expect((await one.counts('q', CALL)).ready.value).toBe(1);
    expect((await two.counts('q', CALL)).ready.value).toBe(0);
    for (const backend of [one, two]) await backend.close({ graceMs: 5000 });
  });
});
