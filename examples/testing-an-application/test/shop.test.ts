import { createTestKit } from '@surety/memory/testing';
import { expect, test } from 'vitest';
import { leaveCart, mailHandlers, placeOrder, remindOfCart, sendReceipt } from '../shop.ts';

// region: producer
test('an order enqueues its receipt, once', async () => {
  await using kit = createTestKit();
  await placeOrder(kit.client, 'A-1');
  await placeOrder(kit.client, 'A-1');
  kit.assertEnqueued(sendReceipt, { input: { orderId: 'A-1' }, queue: 'mail', count: 1 });
});
// endregion

// region: clock
test('a cart is reminded of after a day, not before', async () => {
  const sent: string[] = [];
  await using kit = createTestKit({ handlers: mailHandlers(async (subject) => void sent.push(subject)) });
  await leaveCart(kit.client, 'C-1');
  await kit.advance('23h');
  await kit.drain(); // runs all that is ready, through the real worker
  expect(sent).toEqual([]);
  await kit.advance('1h');
  await kit.drain();
  expect(sent).toEqual(['your cart C-1']);
});
// endregion

// region: retry
test('a mail server that is down: tried three times with the same key, then a dead letter', async () => {
  const keys: string[] = [];
  const down = async (_subject: string, key: string): Promise<void> => {
    keys.push(key);
    throw new Error('connection refused');
  };
  await using kit = createTestKit({ handlers: mailHandlers(down) });
  await placeOrder(kit.client, 'A-1');
  expect(await kit.drain()).toMatchObject({ retried: 1, dead: 0 });
  await kit.advance('1h'); // past any backoff
  await kit.drain();
  await kit.advance('1h');
  expect(await kit.drain()).toMatchObject({ retried: 0, dead: 1 });
  expect(kit.deadLetters('mail')).toMatchObject([
    {
      type: 'receipt.send',
      attempt: 3,
      reason: 'HANDLER_FAILED',
      lastError: { message: 'connection refused' },
    },
  ]);
  expect(new Set(keys).size).toBe(1);
});
// endregion

// region: away
test('a store that is away: the producer is told, and nothing is stored', async () => {
  await using kit = createTestKit();
  await kit.client.start();
  kit.store.faults.refuse('refused');
  await expect(placeOrder(kit.client, 'A-1')).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
  kit.store.faults.refuse(null);
  expect(kit.jobs('mail')).toEqual([]);
});
// endregion

test('the mistakes of a test are told', async () => {
  await using kit = createTestKit({ handlers: [] });
  await leaveCart(kit.client, 'C-1');
  await kit.advance('24h');
  expect(() => kit.assertEnqueued(remindOfCart, { input: { cartId: 'C-2' } })).toThrow(/found 0/);
  await expect(kit.drain()).rejects.toThrow("The kit has no handler for 'cart.remind'.");
});
