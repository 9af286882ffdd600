import { createClient, createWorker, handle } from '@surety/core';
import { payWithCard } from './gateway.ts';
import { broker, charge } from './jobs.ts';

const client = createClient({ backend: broker() });

// region: handler
const chargeHandler = handle(charge, async ({ account, period }, { idempotencyKey, signal, attempt }) => {
  console.log(`${account}: period ${period}, attempt ${attempt}`);
  // A job may run again, whole or in part: the terminal takes a key once.
  await payWithCard(account, idempotencyKey, signal);
  // Again in a day. It has a key of its own that is the same whenever this handler runs again: one more copy of it charges nobody twice.
  const next = { account, period: period + 1 };
  await client.enqueue(charge, next, { delay: '1d', idempotencyKey: `${account} ${next.period}` });
  console.log(`${account}: period ${period} is paid`);
});
// endregion

// region: worker
const worker = createWorker({
  backend: broker(),
  handlers: [chargeHandler],
  concurrency: 20,
  log: 'failures',
});

process.once('SIGTERM', () => void stop());

async function stop(): Promise<void> {
  // What does not end in time is handed back by a copy, no attempt charged. A process that is killed has its jobs charged by the broker.
  const report = await worker.stop({ drain: '2s', grace: '3s' });
  await client.close();
  console.log(`stopped: ${JSON.stringify(report)}`);
}

await worker.start();
// endregion
