import { type Job, PgBoss, type WorkOptions } from 'pg-boss';
import { observePostgresTable } from '../observers/postgres-table.ts';
import type { Contestant, Payload } from './contestant.ts';
import { fill } from './fill.ts';
import { Limiter } from './limiter.ts';
import { multiplyRow } from './multiply-row.ts';
import { payloadSql } from './payloads.ts';
import { withPostgres } from './postgres-client.ts';

const QUEUE = 'bench';
/** Longer than any batch of a bench takes. */
const STOP_MS = 30_000;

interface Mode {
  /** Wake workers by NOTIFY; costs a little with each enqueue. */
  readonly notify: boolean;
  readonly work: (concurrency: number) => WorkOptions;
}

/** As many jobs a fetch as run at the same time; with 1, two in turn, since it fetches without a pause in batches only. */
export const pgBoss: Contestant = boss('pg-boss', {
  notify: true,
  work: (concurrency) => ({ batchSize: Math.max(2, concurrency), burstWhenBatchFull: true }),
});

/** Set for throughput: large fetches, several at the same time, no notification. */
export const pgBossBatch: Contestant = boss('pg-boss-batch', {
  notify: false,
  work: () => ({
    batchSize: 500,
    localConcurrency: 4,
    burstWhenBatchFull: true,
    pollingIntervalSeconds: 0.5,
  }),
});

/** A completed job keeps its row for a week, which is how it comes; it is told by its state. */
function boss(name: string, { notify, work }: Mode): Contestant {
  const contestant: Contestant = {
    name,
    packages: ['pg-boss', 'pg'],
    observe: (url) =>
      observePostgresTable(url, {
        table: 'pgboss.job',
        live: `state in ('created', 'retry', 'active', 'failed')`,
      }),
    async prepare(url) {
      const instance = await started(url, false);
      await instance.createQueue(QUEUE, { notify });
      await instance.stop({ graceful: false });
    },
    async startProducer(url) {
      const instance = await started(url, false);
      return {
        async enqueue(payload) {
          await instance.send(QUEUE, payload);
        },
        async enqueueMany(payloads, delayMs = 0) {
          const when = delayMs > 0 ? { startAfter: new Date(Date.now() + delayMs) } : {};
          await instance.insert(
            QUEUE,
            payloads.map((data) => ({ data, ...when })),
          );
        },
        stop: () => instance.stop({ graceful: false }),
      };
    },
    async startWorker(url, { concurrency, handler }) {
      const instance = await started(url, notify);
      const limiter = new Limiter(concurrency);
      await instance.work<Payload>(QUEUE, work(concurrency), async (jobs: Job<Payload>[]) => {
        await limiter.all(jobs, ({ data }) => handler(data));
      });
      return { stop: () => instance.stop({ graceful: true, timeout: STOP_MS }) };
    },
    async load(url, { count, delayMs }) {
      await fill(contestant, url, { count: 1, delayMs });
      await withPostgres(url, async (client) => {
        const { rows } = await client.query<{ table: string }>(
          'select tableoid::regclass::text as "table" from pgboss.job limit 1',
        );
        await multiplyRow(client, {
          schema: 'pgboss',
          table: String(rows[0]?.table).replace('pgboss.', ''),
          count: count - 1,
          differing: {
            id: 'gen_random_uuid()',
            data: `${payloadSql('n')}::jsonb`,
            // A fetch goes by it. By the thousand it would be the same; so each has its own place.
            created_on: `one.created_on + n * interval '1 us'`,
          },
        });
      });
    },
  };
  return contestant;
}

async function started(url: string, useListenNotify: boolean): Promise<PgBoss> {
  // Nothing here is on a schedule.
  const instance = new PgBoss({ connectionString: url, useListenNotify, schedule: false });
  // It goes on after an error, and a job that suffered by it is missed in the end; the parent shows what is written here.
  instance.on('error', (error) => console.error(error));
  await instance.start();
  return instance;
}
