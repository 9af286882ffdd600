import { sqlite } from '@surety/sqlite';
import { openBooks } from './books.ts';
import { QUEUE } from './jobs.ts';

const backend = sqlite('jobs.db');
const call = { timeoutMs: 10_000 };
await backend.open({ ...call, notify: () => undefined });

// region: status
const { ready, scheduled, leased, dead } = await backend.counts(QUEUE, call);
console.log(`ready ${ready.value}, scheduled ${scheduled.value}, leased ${leased.value}, dead ${dead.value}`);
const page = await backend.deadLetters.list({ queue: QUEUE, limit: 50, cursor: null, type: null }, call);
for (const { id, type, payload, deadAt, attempt, reason, lastError } of page.entries) {
  console.log(`dead ${id} ${type} ${payload}`);
  console.log(`     ${deadAt}, after ${attempt} attempts, ${reason}: ${lastError?.message}`);
}
// endregion
await backend.close({ graceMs: 1000 });

const books = openBooks('books.db');
for (const { day, lines, reconciled } of books.days())
  console.log(`${day}: ${reconciled} of ${lines} invoices reconciled`);
books.close();
