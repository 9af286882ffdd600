import { createClient } from '@surety/core';
import { sqlite } from '@surety/sqlite';
import { QUEUE, reconcileDay, yesterday } from './jobs.ts';

// region: enqueue
// 30 2 * * *  node enqueue.ts     The day is the key: to run this twice, or from two machines, is harmless.
const day = process.argv[2] ?? yesterday();
await using client = createClient({ backend: sqlite('jobs.db') });
const { status, id } = await client.enqueue(
  reconcileDay,
  { day },
  { dedupeKey: `day ${day}`, dedupeWindow: '30d' },
);
console.log(`${day}: ${status} as ${id} on queue ${QUEUE}`); // a failure throws: exit code 1, and cron sends mail
// endregion
