import { type Client, defineJob, type Handler, handle, PermanentError } from '@surety/core';

/** An order as it comes in. */
export interface Order {
  readonly number: number;
  readonly address: string;
  readonly cents: number;
}

/** What the shop keeps elsewhere: a row per order, a payment per key. Each write may come twice and counts once. */
export interface Ledger {
  /** Takes the money once for a key; the gateway is away for the first `outages` calls of each key. */
  charge(key: string, cents: number): Promise<void>;
  ship(order: Order): Promise<void>;
}

// region: jobs
const FAST = { maxAttempts: 5, base: '100ms', cap: '1s' } as const;

export const takePayment = defineJob<Order>('order.pay', { queue: 'orders', retry: FAST });
export const sendParcel = defineJob<Order>('order.ship', { queue: 'parcels', retry: FAST });
// endregion

// region: handlers
/** Knows the jobs and the shop; no word of where the jobs are kept. */
export function orderHandlers(ledger: Ledger): readonly Handler<false>[] {
  return [
    handle(takePayment, async (order, { idempotencyKey, enqueue }) => {
      if (order.cents <= 0) throw new PermanentError(`order ${order.number} costs nothing`);
      await ledger.charge(idempotencyKey, order.cents);
      // The same key whenever this handler runs again: one more copy of the job ships nothing twice.
      await enqueue(sendParcel, order, { delay: '200ms', idempotencyKey: `ship ${order.number}` });
    }),
    handle(sendParcel, async (order, { bury }) => {
      if (order.address === '') return bury(`order ${order.number} has no address`);
      return ledger.ship(order);
    }),
  ];
}
// endregion

/** What the shop does when an order is placed. */
export async function placeOrders(client: Client, orders: readonly Order[]): Promise<void> {
  const results = await client.enqueueMany(orders.map((input) => ({ job: takePayment, input })));
  const refused = results.filter(({ status }) => status !== 'accepted');
  if (refused.length > 0) throw new Error(`${refused.length} orders were not taken`);
}
