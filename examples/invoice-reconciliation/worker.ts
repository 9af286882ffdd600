import { createWorker } from '@surety/core';
import { sqlite } from '@surety/sqlite';
import { openBooks } from './books.ts';
import { handlers } from './handlers.ts';

const books = openBooks('books.db');

// region: worker
const worker = createWorker({
  backend: sqlite('jobs.db'),
  handlers: handlers(books),
  signals: true,
  alert: { oldestReadyAge: Number(process.env['MAX_WAIT_MS'] ?? 900_000) },
  // Every death passes here, whatever its road. This is where a pager or a mail goes.
  onDead: ({ type, jobId, code, message }) => console.error(`DEAD ${type} ${jobId}: ${code}, ${message}`),
});
worker.on('age-alert', ({ state, queue, oldestReadyAgeMs }) =>
  console.error(`ALERT ${state}: the oldest ready job of ${queue} waits for ${oldestReadyAgeMs} ms`),
);
// endregion
worker.on('state', ({ state }) => console.error(`worker ${state}`));
await worker.start();
