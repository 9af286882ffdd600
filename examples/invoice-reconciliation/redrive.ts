import { sqlite } from '@surety/sqlite';
import { QUEUE } from './jobs.ts';

const backend = sqlite('jobs.db');
const call = { timeoutMs: 10_000 };
await backend.open({ ...call, notify: () => undefined });

// region: redrive
// node redrive.ts            all of the queue, a hundred at a time
// node redrive.ts ID ID      these
const ids = process.argv.slice(2);
for (;;) {
  const selection = ids.length > 0 ? { ids } : { type: null, limit: 100 };
  const outcomes = await backend.deadLetters.redrive(QUEUE, selection, call);
  for (const { id, status } of outcomes) console.log(`${id}: ${status}`);
  if (ids.length > 0 || !outcomes.some(({ status }) => status === 'redriven')) break;
}
// endregion
await backend.close({ graceMs: 1000 });
