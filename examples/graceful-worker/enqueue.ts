import { createClient } from '@surety/core';
import { sqlite } from '@surety/sqlite';
import { buildReport } from './jobs.ts';

// node enqueue.ts january=3 annual=500
await using client = createClient({ backend: sqlite('jobs.db') });
for (const argument of process.argv.slice(2)) {
  const [report = '', pages] = argument.split('=');
  await client.enqueue(buildReport, { report, pages: Number(pages) }, { dedupeKey: report });
}
