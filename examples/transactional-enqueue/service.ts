import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createClient } from '@surety/core';
import { postgres } from '@surety/postgres';
import pg from 'pg';
import { sendReceipt } from './jobs.ts';

const connectionString = process.env['DATABASE_URL'];
// region: pool
const pool = new pg.Pool({ connectionString, max: 10 });
pool.on('error', (error) => console.error(`an idle connection broke: ${error.message}`));
const client = createClient({ backend: postgres({ pool }) }); // the same connections; Surety never closes your pool
await client.start();
// endregion

interface Order {
  readonly id: string;
  readonly item: string;
  readonly pieces: number;
}

// region: order
/** The order, its receipt and the stock: all of them, or none. */
async function place({ id, item, pieces }: Order): Promise<number> {
  const tx = await pool.connect();
  try {
    await tx.query('begin');
    const order = 'insert into orders (id, item, pieces) values ($1, $2, $3) on conflict (id) do nothing';
    const isNew = (await tx.query(order, [id, item, pieces])).rowCount === 1;
    if (isNew) {
      await client.enqueue(sendReceipt, { orderId: id }, { tx }); // exists if and when this transaction commits
      const take = 'update stock set pieces = pieces - $2 where item = $1 and pieces >= $2';
      if ((await tx.query(take, [item, pieces])).rowCount === 0) {
        await tx.query('rollback'); // no order, no receipt
        return 409;
      }
    }
    await tx.query('commit');
    return isNew ? 201 : 200; // 200: it was placed before. Whoever got no answer asks again, with the same id
  } catch (error) {
    await tx.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    tx.release();
  }
}
// endregion

const server = createServer((request, response) => {
  answer(request.method === 'PUT' ? text(request) : Promise.resolve('null')).then(
    (status) => response.writeHead(status).end(),
    (error: unknown) => {
      console.error(error);
      response.writeHead(500).end();
    },
  );
});

async function answer(body: Promise<string>): Promise<number> {
  const order = JSON.parse(await body) as Order | null;
  return order === null ? 405 : place(order);
}

server.listen(Number(process.env['PORT'] ?? 8080), '127.0.0.1');
await once(server, 'listening');
console.log(`listening on ${(server.address() as AddressInfo).port}.`);
