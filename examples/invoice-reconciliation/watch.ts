import { AgeWatch } from '@surety/core';
import { sqlite } from '@surety/sqlite';
import { openBooks } from './books.ts';
import { QUEUE, yesterday } from './jobs.ts';

// */5 * * * *  node watch.ts     A worker that is down cannot raise an alert. Whoever asks must be somebody else.
const day = process.argv[2] ?? yesterday();
const timeoutMs = 10_000;
const problems: string[] = [];

// region: watch
const backend = sqlite('jobs.db');
await backend.open({ timeoutMs, notify: () => undefined });
const watch = new AgeWatch(backend, Number(process.env['MAX_WAIT_MS'] ?? 900_000), (alert) =>
  problems.push(`no worker: the oldest ready job of ${QUEUE} waits for ${alert.oldestReadyAgeMs} ms`),
);
await watch.look(QUEUE, timeoutMs); // enqueued, and nobody works it
const { dead } = await backend.counts(QUEUE, { timeoutMs });
if (dead.value !== 0) problems.push(`${dead.value} dead letters: see status.ts`);
await backend.close({ graceMs: 1000 });

const books = openBooks('books.db'); // never enqueued: no queue can know of it, the books do
if (!books.hasRead(day)) problems.push(`the files of ${day} have not been read`);
books.close();
// endregion

for (const problem of problems) console.error(`PROBLEM ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
