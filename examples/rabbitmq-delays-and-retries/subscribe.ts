import { createClient } from '@surety/core';
import { broker, charge } from './jobs.ts';

// node subscribe.ts ada grace
await using client = createClient({ backend: broker() });
for (const account of process.argv.slice(2)) {
  await client.enqueue(charge, { account, period: 1 }, { idempotencyKey: `${account} 1` });
  console.log(`${account}: subscribed`);
}
