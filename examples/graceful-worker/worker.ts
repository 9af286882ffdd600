import { setTimeout as sleep } from 'node:timers/promises';
import { createWorker, type Duration, handle } from '@surety/core';
import { sqlite } from '@surety/sqlite';
import { buildReport } from './jobs.ts';
import { openPages } from './pages.ts';

const pages = openPages('pages.db');
const pageMs = Number(process.env['PAGE_MS'] ?? 200);

// region: handler
const build = handle(buildReport, async (input, { signal, attempt }) => {
  // Done pages are not printed again: whoever takes over goes on where the other one stopped.
  for (let page = pages.count(input.report) + 1; page <= input.pages; page++) {
    console.log(`${input.report}: page ${page}, attempt ${attempt}`);
    await sleep(pageMs, undefined, { signal }); // rejects when the worker is told to stop: no page is half done
    pages.print(input.report, page);
  }
});
// endregion

const worker = createWorker({
  backend: sqlite('jobs.db'),
  handlers: [build],
  concurrency: 4,
  lease: (process.env['LEASE'] ?? '30s') as Duration,
});

// region: stop
// `signals: true` does the same with a drain of 30 s. `once`: a second signal ends the process as it always would.
process.once('SIGTERM', () => void stop());

async function stop(): Promise<void> {
  console.log('stopping');
  const report = await worker.stop({ drain: (process.env['DRAIN'] ?? '20s') as Duration, grace: '5s' });
  pages.close();
  console.log(`stopped: ${JSON.stringify(report)}`);
}
// endregion

await worker.start();
