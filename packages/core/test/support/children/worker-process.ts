import { createClient, createWorker, defineJob, handle } from '@surety/core';
import { createMemoryStore, memory } from '@surety/memory';

/** A process with one worker and a few jobs; the first argument says how it ends. */
const how = process.argv[2];
const store = createMemoryStore();
const backend = memory({ store });
const client = createClient({ backend });
const job = defineJob<{ n: number }>('test.job');
const hang = defineJob('test.hang');
const tell = (message: string): void => void process.stderr.write(`${message}\n`);

const worker = createWorker({
  backend,
  signals: how === 'signal',
  grace: 500,
  handlers: [
    handle(job, ({ n }) => {
      if (n === 3 && how === 'uncaught') {
        setImmediate(() => {
          throw new Error('nobody catches this');
        });
      }
    }),
    handle(hang, () => new Promise<void>(() => undefined)),
  ],
});

let attempts = 0;
worker.on('attempt', () => {
  attempts += 1;
  if (attempts !== 5) return;
  if (how === 'exit') process.exit(7);
  if (how === 'stop') void finish();
  if (how === 'frozen') void freeze();
  if (how === 'signal') tell('ready');
});

async function finish(): Promise<void> {
  await client.close();
  const report = await worker.stop();
  tell(JSON.stringify(report));
}

/** The store freezes under a running job: the stop is bounded, and nothing keeps the process. */
async function freeze(): Promise<void> {
  await client.enqueue(hang, {});
  await client.close();
  while (worker.health().running === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  store.faults.refuse('frozen');
  const startedAt = performance.now();
  const report = await worker.stop({ drain: 0, grace: 200 });
  tell(JSON.stringify({ ...report, ms: Math.round(performance.now() - startedAt) }));
}

if (how === 'never-connected') {
  store.faults.refuse('frozen');
  const started = worker.start();
  await new Promise((resolve) => setTimeout(resolve, 100));
  await client.close();
  tell(JSON.stringify(await worker.stop()));
  await started;
} else {
  await worker.start();
  for (let n = 1; n <= 5; n += 1) await client.enqueue(job, { n });
}
