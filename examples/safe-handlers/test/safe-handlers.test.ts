import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DatabaseSync } from 'node:sqlite';
import { createWorker, type Handler } from '@surety/core';
import { memory } from '@surety/memory';
import { createTestKit, type TestKit } from '@surety/memory/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  chargeCard,
  chargeHandler,
  profileHandler,
  reportHandler,
  saveProfile,
  shipHandler,
  shipOrder,
  writeReport,
} from '../handlers.ts';
import { openShop } from '../shop.ts';

let shop: DatabaseSync;
beforeEach(() => {
  shop = openShop(':memory:');
});
afterEach(() => shop.close());

/** The worst that can happen: the effect is done, and the worker dies before the store hears of it. */
function diesAfterItsFirstEffect<Fenced extends boolean>(handler: Handler<Fenced>): Handler<Fenced> {
  let isDead = false;
  return {
    ...handler,
    async run(input: never, context: never) {
      const result: unknown = await handler.run(input, context);
      if (isDead) return result;
      isDead = true;
      throw new Error('died after the effect');
    },
  };
}

async function runTwice(kit: TestKit): Promise<void> {
  expect(await kit.drain()).toMatchObject({ retried: 1, completed: 0 });
  await kit.advance('1h');
  expect(await kit.drain()).toMatchObject({ completed: 1 });
}

test('an upsert on a natural key', async () => {
  await using kit = createTestKit({ handlers: [diesAfterItsFirstEffect(profileHandler(shop))] });
  await kit.client.enqueue(saveProfile, { userId: 'u1', email: 'ada@example.com' });
  await runTwice(kit);
  expect(shop.prepare('select * from profile').all()).toEqual([{ user_id: 'u1', email: 'ada@example.com' }]);
});

test('a conditional update that only goes forward', async () => {
  shop.exec(`insert into orders (id, state) values ('A', 'paid'), ('B', 'refunded'), ('C', 'open')`);
  await using kit = createTestKit({ handlers: [diesAfterItsFirstEffect(shipHandler(shop))] });
  await kit.client.enqueue(shipOrder, { orderId: 'A', parcel: 'first' });
  await runTwice(kit);
  // A second job for the same order, late: nothing changes.
  await kit.client.enqueue(shipOrder, { orderId: 'A', parcel: 'second' });
  expect(await kit.drain()).toMatchObject({ completed: 1 });
  expect(shop.prepare(`select parcel from orders where id = 'A'`).get()).toEqual({ parcel: 'first' });
  await kit.client.enqueue(shipOrder, { orderId: 'B', parcel: 'x' });
  await kit.client.enqueue(shipOrder, { orderId: 'C', parcel: 'y' });
  const { attempts } = await kit.drain();
  expect(attempts.map(({ outcome }) => outcome)).toEqual(['dead', 'snoozed']);
  expect(kit.deadLetters()).toMatchObject([
    { reason: 'BURIED', lastError: { message: 'order B is refunded' } },
  ]);
  // Nothing was spent by the snooze.
  expect(kit.jobs().filter(({ state }) => state === 'scheduled')).toMatchObject([{ attempt: 0 }]);
});

describe('a provider that knows an idempotency key', () => {
  const charges = new Map<string, string>();
  const answers: number[] = [];
  let calls = 0;
  let server: Server;
  let url = '';

  beforeEach(async () => {
    calls = 0;
    charges.clear();
    server = createServer((request, response) => {
      calls += 1;
      const key = String(request.headers['idempotency-key']);
      const status = answers.shift() ?? 200;
      if (status === 200 && !charges.has(key)) charges.set(key, `ch-${charges.size + 1}`);
      response.writeHead(status).end(JSON.stringify({ reference: charges.get(key) }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  test('charges once, however often it is asked', async () => {
    await using kit = createTestKit({ handlers: [diesAfterItsFirstEffect(chargeHandler(shop, url))] });
    await kit.client.enqueue(chargeCard, { orderId: 'A', cents: 500 });
    await runTwice(kit);
    expect([calls, charges.size]).toEqual([2, 1]);
    expect(shop.prepare('select * from charge').all()).toEqual([{ order_id: 'A', reference: 'ch-1' }]);
  });

  test('and each of its answers ends the attempt as it should', async () => {
    await using kit = createTestKit({ handlers: [chargeHandler(shop, url)] });
    answers.push(429, 503, 402, 400);
    await kit.client.enqueue(chargeCard, { orderId: 'A', cents: 500 });
    const outcomes: string[] = [];
    for (let round = 0; round < 3; round++) {
      outcomes.push(...(await kit.drain()).attempts.map(({ outcome }) => outcome));
      await kit.advance('1h');
    }
    await kit.client.enqueue(chargeCard, { orderId: 'B', cents: 500 });
    outcomes.push(...(await kit.drain()).attempts.map(({ outcome }) => outcome));
    expect(outcomes).toEqual(['snoozed', 'retried', 'cancelled', 'dead']);
    expect(charges.size).toBe(0);
  });
});

test('a fence keeps out the worker that came back from the dead', async () => {
  await using kit = createTestKit();
  const first = Promise.withResolvers<string>();
  const bodies = [first.promise, Promise.resolve('of the second')];
  let building = 0;
  const handlers = [reportHandler(shop, () => bodies[building++] ?? Promise.reject(new Error('a third')))];
  const one = createWorker({ backend: kit.backend, handlers, log: 'none' });
  const two = createWorker({ backend: memory({ store: kit.store }), handlers, log: 'none' });
  const lost = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  one.on('attempt', ({ outcome }) => void (outcome === 'lease-lost' && lost.resolve()));
  two.on('attempt', ({ outcome }) => void (outcome === 'completed' && done.resolve()));

  await one.start();
  const started = new Promise<void>((resolve) => one.on('started', () => resolve()));
  await kit.client.enqueue(writeReport, { name: 'may' });
  await started;
  // The first worker is cut off for longer than its lease, and does not know it.
  kit.store.faults.freeze(kit.backend);
  await kit.advance('31s');
  await two.start();
  await done.promise;
  first.resolve('of the first');
  kit.store.faults.heal(kit.backend);
  await lost.promise;
  expect(shop.prepare('select body from report').all()).toEqual([{ body: 'of the second' }]);
  expect(building).toBe(2);
  await Promise.all([one.stop(), two.stop()]);
});
