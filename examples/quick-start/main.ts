import { createClient, createWorker, defineJob, handle } from '@surety/core';
import { sqlite } from '@surety/sqlite';

const sendReceipt = defineJob<{ orderId: string }>('receipt.send', { queue: 'mail', timeout: '30s' });
const backend = sqlite('jobs.db'); // or postgres({ url }): nothing else changes

const client = createClient({ backend });
const { status, id } = await client.enqueue(sendReceipt, { orderId: 'A-1001' }, { dedupeKey: 'A-1001' });
console.log(`${status} ${id}`); // accepted: on disk. A second call with this key says: duplicate

const worker = createWorker({
  backend,
  concurrency: 20,
  signals: true, // SIGTERM: finish what runs, hand the rest back unharmed
  handlers: [
    handle(sendReceipt, async ({ orderId }, { attempt, idempotencyKey }) => {
      console.log(`receipt for ${orderId}, attempt ${attempt}, key ${idempotencyKey}`);
    }),
  ],
});
await worker.start();
await client.close();
