import { createWorker, handle } from '@surety/core';
import { postgres } from '@surety/postgres';
import pg from 'pg';
import { sendReceipt } from './jobs.ts';

const url = process.env['DATABASE_URL'] ?? '';
const pool = new pg.Pool({ connectionString: url });
pool.on('error', (error) => console.error(`an idle connection broke: ${error.message}`));

const worker = createWorker({
  backend: postgres({ url }),
  signals: true,
  handlers: [
    // region: handler
    handle(sendReceipt, async ({ orderId }, { idempotencyKey }) => {
      // The order is there: this job exists only since its transaction committed.
      await pool.query('insert into receipt (order_id) values ($1) on conflict do nothing', [orderId]);
      console.log(`receipt for ${orderId}, key ${idempotencyKey}`); // the mail itself would carry the key
    }),
    // endregion
  ],
});
worker.on('state', ({ state }) => void (state === 'stopped' && pool.end()));
await worker.start();
