import { type Client, defineJob, type Handler, handle } from '@surety/core';

// region: shop
export const sendReceipt = defineJob<{ orderId: string }>('receipt.send', {
  queue: 'mail',
  retry: { maxAttempts: 3, base: '10s' },
});
export const remindOfCart = defineJob<{ cartId: string }>('cart.remind', { queue: 'mail' });

/** The producer takes a client and does not ask where its jobs go. */
export async function placeOrder(client: Client, orderId: string): Promise<void> {
  await client.enqueue(sendReceipt, { orderId }, { dedupeKey: `receipt ${orderId}` });
}

export async function leaveCart(client: Client, cartId: string): Promise<void> {
  await client.enqueue(remindOfCart, { cartId }, { delay: '24h' });
}

/** The handlers take what they need, so that a test can give them something else. */
export function mailHandlers(send: (subject: string, key: string) => Promise<void>): Handler<false>[] {
  return [
    handle(sendReceipt, ({ orderId }, ctx) => send(`receipt ${orderId}`, ctx.idempotencyKey)),
    handle(remindOfCart, ({ cartId }, ctx) => send(`your cart ${cartId}`, ctx.idempotencyKey)),
  ];
}
// endregion
