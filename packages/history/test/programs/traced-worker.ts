/** A worker with a trace, until it is killed or told to stop by its parent. Arguments: the database, the trace. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createWorker, handle } from '@surety/core';
import { sqlite } from '@surety/sqlite';
import { work } from '../support/work.ts';

const [database = '', trace = ''] = process.argv.slice(2);
const worker = createWorker({
  backend: sqlite(database),
  log: 'none',
  lease: '1s',
  concurrency: 4,
  trace,
  handlers: [
    handle(work, async (input, ctx) => {
      await sleep(20);
      ctx.effect('done');
      process.send?.('effect');
      await sleep(20);
      if (input === 'fails' && ctx.attempt === 1) throw new Error('once');
    }),
  ],
});
process.on('message', () => void worker.stop().then(() => process.disconnect()));
await worker.start();
