import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres, startRabbitmq, startRedis, startSqs } from '@surety/testbed';
import { describe, expect, test } from 'vitest';
import { backendFor } from '../backends.ts';
import type { Order } from '../orders.ts';
import { type Day, runDay } from '../shop.ts';

const ORDERS: readonly Order[] = [
  { number: 1, address: '1 Harbour Street', cents: 900 },
  { number: 2, address: '2 Harbour Street', cents: 1001 },
  { number: 3, address: '', cents: 300 },
  { number: 4, address: '4 Harbour Street', cents: 0 },
  { number: 5, address: '5 Harbour Street', cents: 1502 },
  { number: 6, address: '6 Harbour Street', cents: 601 },
];
const EXPECTED: Day = {
  shipped: [1, 2, 5, 6],
  dead: { 3: 'BURIED', 4: 'PERMANENT_FAILURE' },
  cents: 900 + 1001 + 300 + 1502 + 601,
};

interface Place extends AsyncDisposable {
  readonly address: string;
}

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  async sqlite() {
    const folder = await mkdtemp(join(tmpdir(), 'swap-broker-'));
    return place(`sqlite:${join(folder, 'orders.db')}`, () => rm(folder, { recursive: true, force: true }));
  },
  async postgres() {
    const server = await startPostgres();
    return place(await server.createDatabase(), () => server.destroy());
  },
  async redis() {
    const server = await startRedis();
    return place(server.url, () => server.destroy());
  },
  async rabbitmq() {
    const server = await startRabbitmq();
    return place(server.url, () => server.destroy());
  },
  async sqs() {
    const server = await startSqs();
    const endpoint = encodeURIComponent(server.endpoint);
    return place(`sqs:${server.region}?endpoint=${endpoint}`, () => server.destroy());
  },
};

describe('the same handlers', () => {
  for (const [name, open] of Object.entries(PLACES)) {
    test(`bring the same result on ${name}`, async () => {
      await using at = await open();
      expect(await runDay(() => backendFor(at.address), ORDERS, 90_000)).toEqual(EXPECTED);
    });
  }
});

function place(address: string, destroy: () => Promise<void>): Place {
  return { address, [Symbol.asyncDispose]: destroy };
}
