import { Logger, makeWorkerUtils, run, WorkerPreset } from 'graphile-worker';
import { observePostgresTable } from '../observers/postgres-table.ts';
import type { Contestant, Payload } from './contestant.ts';
import { fill } from './fill.ts';
import { multiplyRow } from './multiply-row.ts';
import { payloadSql } from './payloads.ts';
import { withPostgres } from './postgres-client.ts';

const TASK = 'bench';
const SCHEMA = 'graphile_worker';
const TABLE = '_private_jobs';

/**
 * What its documentation measures itself with: a local queue much larger than the concurrency (500 jobs, as many as our own
 * worker holds at most), and completions and failures sent in batches. A delay of 0 gathers what ends within one turn of
 * the timers.
 */
const BATCHES = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };

/** As it comes: it claims and completes each job by itself. */
export const graphileWorker: Contestant = graphile('graphile-worker', {});

/** Set for throughput. */
export const graphileWorkerBatch: Contestant = graphile('graphile-worker-batch', BATCHES);

/** Nothing is logged; `NO_LOG_SUCCESS` saves it the text of the line per job too. */
function graphile(name: string, settings: Partial<typeof BATCHES>): Contestant {
  const contestant: Contestant = {
    name,
    packages: ['graphile-worker', 'pg'],
    // A completed job has no row there.
    observe: (url) => observePostgresTable(url, { table: `${SCHEMA}.${TABLE}`, live: 'true' }),
    async prepare(url) {
      const utils = await makeWorkerUtils({ connectionString: url, logger: silent() });
      await utils.migrate();
      await utils.release();
    },
    async startProducer(url) {
      const utils = await makeWorkerUtils({ connectionString: url, logger: silent() });
      return {
        async enqueue(payload) {
          await utils.addJob(TASK, payload);
        },
        async enqueueMany(payloads, delayMs = 0) {
          const when = delayMs > 0 ? { runAt: new Date(Date.now() + delayMs) } : {};
          await utils.addJobs(payloads.map((payload) => ({ identifier: TASK, payload, ...when })));
        },
        async stop() {
          await utils.release();
        },
      };
    },
    async startWorker(url, { concurrency, handler }) {
      const runner = await run({
        preset: {
          extends: [WorkerPreset],
          worker: {
            connectionString: url,
            concurrentJobs: concurrency,
            // One connection a job and one to listen, as in its documentation.
            maxPoolSize: concurrency + 1,
            logger: silent(),
            ...settings,
          },
        },
        taskList: { [TASK]: (payload) => handler(payload as Payload) },
        parsedCronItems: [],
        noHandleSignals: true,
      });
      return { stop: () => Promise.resolve(runner.stop()) };
    },
    async load(url, { count, delayMs }) {
      await fill(contestant, url, { count: 1, delayMs });
      await withPostgres(url, (client) =>
        multiplyRow(client, {
          schema: SCHEMA,
          table: TABLE,
          count: count - 1,
          differing: { payload: `${payloadSql('n')}::json` },
        }),
      );
    },
  };
  return contestant;
}

function silent(): Logger {
  return new Logger(() => () => undefined);
}
