import { createClient, createWorker } from '@surety/core';
import type { Backend } from '@surety/core/contract';
import { type Ledger, type Order, orderHandlers, placeOrders } from './orders.ts';

/** What became of a day's orders, in the order of their numbers. */
export interface Day {
  readonly shipped: readonly number[];
  /** Reason by the number of the order, as it stands in the dead letters. */
  readonly dead: Readonly<Record<number, string>>;
  readonly cents: number;
}

const CALL = { timeoutMs: 20_000 };
const PAGE = { limit: 100, cursor: null, type: null };

/** Places the orders, works until each is shipped or dead, and says what became of them. */
export async function runDay(
  connect: () => Backend,
  orders: readonly Order[],
  withinMs: number,
): Promise<Day> {
  const shipped = new Map<number, Order>();
  const paid = new Map<string, number>();
  const tries = new Map<string, number>();
  const ledger: Ledger = {
    async charge(key, cents) {
      const calls = (tries.get(key) ?? 0) + 1;
      tries.set(key, calls);
      if (calls <= cents % 3) throw new Error('the payment gateway is away');
      paid.set(key, cents);
    },
    async ship(order) {
      shipped.set(order.number, order);
    },
  };
  const backend = connect();
  await backend.open({ ...CALL, notify: () => undefined });
  const client = createClient({ backend: connect() });
  const worker = createWorker({
    backend: connect(),
    handlers: orderHandlers(ledger),
    concurrency: 10,
    log: 'none',
  });
  try {
    await client.start();
    await worker.start();
    await placeOrders(client, orders);
    let dead = await deadOrders(backend);
    const until = performance.now() + withinMs;
    while (shipped.size + Object.keys(dead).length < orders.length) {
      if (performance.now() > until) throw new Error('the orders took too long');
      await new Promise((resolve) => setTimeout(resolve, 100));
      dead = await deadOrders(backend);
    }
    const cents = [...paid.values()].reduce((sum, each) => sum + each, 0);
    return { shipped: [...shipped.keys()].sort((a, b) => a - b), dead, cents };
  } finally {
    await worker.stop({ drain: '5s', grace: '1s' });
    await client.close();
    await backend.close({ graceMs: 1000 });
  }
}

/** The reasons of the dead letters, by order. A day has few: one page of each queue. */
async function deadOrders({ deadLetters }: Backend): Promise<Record<number, string>> {
  const dead: Record<number, string> = {};
  for (const queue of ['orders', 'parcels']) {
    const { entries } = await deadLetters.list({ queue, ...PAGE }, CALL);
    for (const { payload, reason } of entries) dead[(JSON.parse(payload) as Order).number] = reason;
  }
  return dead;
}
