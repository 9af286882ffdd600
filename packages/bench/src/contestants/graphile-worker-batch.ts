import { Logger, makeWorkerUtils, run, WorkerPreset } from 'graphile-worker';
import { observePostgresTable } from '../observers/postgres-table.ts';
import type { Contestant, Payload } from './contestant.ts';

const TASK = 'bench';
/** Jobs in one `addJobs`: a few hundred kilobytes of JSON. */
const FILL_BATCH = 1000;

/**
 * What its documentation says for high throughput of very short tasks: a local queue much larger than the concurrency,
 * here as many jobs as our own worker holds at most, and completions and failures sent in batches. A delay of 0 gathers
 * what ends within one turn of the timers; a longer one would only add its wait to the end of a drain.
 */
const BATCHES = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };

/** graphile-worker set for throughput. Nothing is logged; `NO_LOG_SUCCESS` saves it the text of the line per job too. */
export const graphileWorkerBatch: Contestant = {
  name: 'graphile-worker-batch',
  packages: ['graphile-worker', 'pg'],
  observe: (url) => observePostgresTable(url, 'graphile_worker._private_jobs'),
  async prepare(url) {
    const utils = await makeWorkerUtils({ connectionString: url, logger: silent() });
    await utils.migrate();
    await utils.release();
  },
  async fill(url, payloads) {
    const utils = await makeWorkerUtils({ connectionString: url, logger: silent() });
    for (let from = 0; from < payloads.length; from += FILL_BATCH) {
      const batch = payloads.slice(from, from + FILL_BATCH);
      await utils.addJobs(batch.map((payload) => ({ identifier: TASK, payload })));
    }
    await utils.release();
  },
  async startWorker(url, { concurrency, handler }) {
    const runner = await run({
      preset: {
        extends: [WorkerPreset],
        worker: { connectionString: url, concurrentJobs: concurrency, logger: silent(), ...BATCHES },
      },
      taskList: { [TASK]: (payload) => handler(payload as Payload) },
      parsedCronItems: [],
      noHandleSignals: true,
    });
    return { stop: () => Promise.resolve(runner.stop()) };
  },
};

function silent(): Logger {
  return new Logger(() => () => undefined);
}
