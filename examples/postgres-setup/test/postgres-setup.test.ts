import { readFile } from 'node:fs/promises';
import { createClient, createWorker, defineJob, handle, isSuretyError } from '@surety/core';
import { runProgram, sharedPostgres } from '@surety/testbed';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { direct, pooled } from '../backends.ts';

const welcome = defineJob<{ customerId: string }>('customer.welcome', { queue: 'mail' });
/** Roles are those of the whole server, so this run has its own. */
const ROLE = `surety_worker_${process.pid}_${Date.now().toString(36)}`;
let ownerUrl = '';
let workerUrl = '';
let owner: pg.Client;
let admin: pg.Client;

beforeAll(async () => {
  const server = await sharedPostgres();
  ownerUrl = await server.createDatabase();
  owner = await connect(ownerUrl);
  admin = await connect(server.adminUrl);
  await admin.query(`create role ${ROLE} login password 'word'`);
  const url = new URL(ownerUrl);
  url.username = ROLE;
  url.password = 'word';
  workerUrl = url.href;
});
afterAll(async () => {
  await owner.query(`drop owned by ${ROLE} cascade`).catch(() => undefined);
  await owner.end();
  await (await sharedPostgres()).dropDatabase(ownerUrl);
  await admin.query(`drop role ${ROLE}`);
  await admin.end();
});

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function sql(name: string): Promise<string> {
  const text = await readFile(new URL(`../${name}`, import.meta.url), 'utf8');
  return text.replaceAll('surety_worker', ROLE);
}

async function migrate(): Promise<number | null> {
  await using program = runProgram(new URL('../migrate.ts', import.meta.url), {
    env: { OWNER_URL: ownerUrl },
  });
  return (await program.exited).code;
}

async function startsWith(backend: ReturnType<typeof direct>): Promise<string> {
  const client = createClient({ backend });
  try {
    await client.start();
    return 'started';
  } catch (error) {
    return isSuretyError(error) ? error.code : String(error);
  } finally {
    await client.close();
  }
}

/** Works off what is in the queue until it has seen so many customers. */
async function workOff(backend: ReturnType<typeof direct>, count: number): Promise<string[]> {
  const seen: string[] = [];
  const done = Promise.withResolvers<void>();
  const worker = createWorker({
    backend,
    log: 'none',
    handlers: [
      handle(welcome, ({ customerId }) => {
        seen.push(customerId);
        if (seen.length === count) done.resolve();
      }),
    ],
  });
  await worker.start();
  await done.promise;
  await worker.stop();
  return seen.sort((a, b) => a.localeCompare(b));
}

describe('a role that may only work', () => {
  test('is told when the deploy forgot the schema', async () => {
    expect(await startsWith(direct(workerUrl))).toBe('SCHEMA_MISSING');
  });

  test('works once the owner has migrated and granted; several deploys at once do no harm', async () => {
    expect(await Promise.all([migrate(), migrate(), migrate()])).toEqual([0, 0, 0]);
    expect(await startsWith(direct(workerUrl)), 'without a grant').toBe('PERMISSION_DENIED');
    await owner.query(await sql('roles.sql'));
    const backend = direct(workerUrl);
    const client = createClient({ backend });
    await client.enqueue(welcome, { customerId: 'by the client' });
    expect(await workOff(backend, 1)).toEqual(['by the client']);
    await client.close();
    const worker = await connect(workerUrl);
    await expect(worker.query('create table surety.mine ()')).rejects.toThrow(/denied/);
    await worker.end();
  });

  test('gets what later migrations of the owner add', async () => {
    await owner.query('create table surety.of_a_later_version (n int)');
    const worker = await connect(workerUrl);
    expect((await worker.query('select n from surety.of_a_later_version')).rows).toEqual([]);
    await worker.end();
  });
});

test('a trigger enqueues: with the commit, not with the insert', async () => {
  // The owner here is named like the schema, and "$user" comes first in the search path.
  await owner.query(`set search_path = public; ${await sql('trigger.sql')}`);
  await owner.query(`grant insert, select on customer to ${ROLE}`);
  const worker = await connect(workerUrl);
  await worker.query(`begin; insert into customer (email) values ('nobody@example.com'); rollback`);
  const { rows } = await worker.query<{ id: string }>(
    `insert into customer (email) values ('ada@example.com'), ('bo@example.com') returning id`,
  );
  await worker.end();
  const ids = rows.map(({ id }) => id).sort((a, b) => a.localeCompare(b));
  expect(await workOff(pooled(workerUrl), 2)).toEqual(ids);
});

test('the looks at the server are valid, and see who holds vacuum back', async () => {
  const other = await connect(ownerUrl);
  await other.query('begin isolation level repeatable read; select 1');
  const statements = (await sql('look.sql')).split(/;\n/).filter((text) => /select/.test(text));
  const looks: pg.QueryResult[] = [];
  for (const statement of statements) looks.push(await owner.query(statement));
  const [holders, slots, bloat] = looks;
  expect(holders?.rows.map(({ query }) => String(query))).toContain(
    'begin isolation level repeatable read; select 1',
  );
  expect(slots?.fields.map(({ name }) => name)).toEqual(['name', 'transactions_behind']);
  expect(bloat?.rows.map(({ relname }) => String(relname))).toEqual(
    expect.arrayContaining(['job', 'ticket', 'claim']),
  );
  await other.query('rollback');
  await other.end();
});
