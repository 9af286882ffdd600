import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Program, runProgram, sharedPostgres } from '@surety/testbed';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

let url = '';
let db: pg.Client;
let programs: Program[] = [];

beforeAll(async () => {
  url = await (await sharedPostgres()).createDatabase();
  db = await connect();
  await db.query(await readFile(new URL('../schema.sql', import.meta.url), 'utf8'));
});
beforeEach(async () => {
  await db.query(`truncate stock, orders, receipt; insert into stock values ('chair', 1000000)`);
});
afterEach(async () => {
  for (const program of programs) await program[Symbol.asyncDispose]();
  programs = [];
});
afterAll(async () => {
  await db.end();
  await (await sharedPostgres()).dropDatabase(url);
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

function start(name: string): Program {
  const env = { DATABASE_URL: url, PORT: '0', PGAPPNAME: name };
  const program = runProgram(new URL(`../${name}.ts`, import.meta.url), { env });
  programs.push(program);
  return program;
}

async function startService(): Promise<{ readonly service: Program; readonly address: string }> {
  const service = start('service');
  await service.says('.\n');
  const port = /listening on (\d+)\./.exec(service.output())?.[1];
  return { service, address: `http://127.0.0.1:${port}/orders` };
}

/** Status, or null when no answer came. */
async function put(address: string, order: object): Promise<number | null> {
  try {
    return (await fetch(address, { method: 'PUT', body: JSON.stringify(order) })).status;
  } catch {
    return null;
  }
}

async function ids(sql: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(`${sql} order by 1`);
  return rows.map(({ id }) => id);
}

const orders = (): Promise<string[]> => ids('select id::text from orders');
const receipts = (): Promise<string[]> => ids('select order_id::text as id from receipt');
const jobs = (): Promise<string[]> => ids(`select payload->>'orderId' as id from surety.job`);

async function eventually(look: () => Promise<boolean>): Promise<void> {
  while (!(await look())) await new Promise((resolve) => setTimeout(resolve, 25));
}

/** Works off what there is, and counts what each order got. */
async function workOff(): Promise<string> {
  const worker = start('worker');
  await eventually(async () => (await jobs()).length === 0);
  worker.kill('SIGTERM');
  await worker.exited;
  return worker.output();
}

const runsOf = (output: string, id: string): number => output.split(`receipt for ${id}`).length - 1;

test('commit: one order, one job, one receipt; asked again, the same', async () => {
  const { address } = await startService();
  const order = { id: randomUUID(), item: 'chair', pieces: 2 };
  expect(await put(address, order)).toBe(201);
  expect(await put(address, order)).toBe(200);
  expect([await orders(), await jobs()]).toEqual([[order.id], [order.id]]);
  const output = await workOff();
  expect([await receipts(), runsOf(output, order.id)]).toEqual([[order.id], 1]);
  expect(await put(address, order)).toBe(200);
  expect(await jobs()).toEqual([]);
});

test('rollback: no order, no job, nothing for a worker to do', async () => {
  const { address } = await startService();
  const tooMany = { id: randomUUID(), item: 'chair', pieces: 1_000_001 };
  expect(await put(address, tooMany)).toBe(409);
  expect(await put(address, { id: randomUUID(), item: 'no such item', pieces: 1 })).toBe(500);
  expect([await orders(), await jobs()]).toEqual([[], []]);
});

test('kill -9 between the enqueue and the commit: neither; asked again of another process: both, once', async () => {
  const { service, address } = await startService();
  const order = { id: randomUUID(), item: 'chair', pieces: 1 };
  // Somebody else holds the stock, so the service stands still with order and job written and nothing committed.
  const other = await connect();
  await other.query(`begin; select from stock where item = 'chair' for no key update`);
  const answer = put(address, order);
  const stuck = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'update stock%'`;
  await eventually(async () => (await db.query(stuck)).rowCount === 1);
  service.kill('SIGKILL');
  expect(await answer).toBe(null);
  await other.query('commit');
  await other.end();
  await eventually(async () => (await db.query(stuck)).rowCount === 0);
  const left = `select from pg_stat_activity where datname = current_database() and application_name = 'service'`;
  await eventually(async () => (await db.query(left)).rowCount === 0);
  expect([await orders(), await jobs()]).toEqual([[], []]);

  const again = await startService();
  expect(await put(again.address, order)).toBe(201);
  expect(runsOf(await workOff(), order.id)).toBe(1);
  expect([await orders(), await receipts()]).toEqual([[order.id], [order.id]]);
});

test('kill -9 in the middle of many: every order has its job, no job is without its order, no answered one is missing', async () => {
  const { service, address } = await startService();
  const answered: string[] = [];
  const asked = Array.from({ length: 8 }, async () => {
    for (;;) {
      const id = randomUUID();
      const status = await put(address, { id, item: 'chair', pieces: 1 });
      if (status === null) return;
      expect(status).toBe(201);
      answered.push(id);
    }
  });
  await eventually(async () => answered.length >= 50);
  service.kill('SIGKILL');
  await Promise.all(asked);
  const left = `select from pg_stat_activity where datname = current_database() and application_name = 'service'`;
  await eventually(async () => (await db.query(left)).rowCount === 0);
  const placed = await orders();
  expect(await jobs()).toEqual(placed);
  expect(placed).toEqual(expect.arrayContaining(answered));
  const output = await workOff();
  expect(await receipts()).toEqual(placed);
  expect(placed.every((id) => runsOf(output, id) === 1)).toBe(true);
});
