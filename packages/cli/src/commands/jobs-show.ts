import type { JobView } from '@surety/core/contract';
import { JSON_OPTION, QUEUE_OPTION, STORE_OPTIONS } from '../arguments/store-options.ts';
import { flag, jobId, queueOption } from '../arguments/values.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { findDead } from '../stores/dead-letters.ts';
import { type OpenStore, withStore } from '../stores/open-store.ts';
import { queuesOf } from '../stores/queues-of.ts';
import { jobLines } from '../terminal/job-lines.ts';

/** `surety jobs show`. */
export const jobsShow: Command = {
  name: 'jobs show',
  summary: 'One job, in whatever state it is',
  takes: 'ID',
  words: { min: 1, max: 1 },
  options: { ...QUEUE_OPTION, ...JSON_OPTION, ...STORE_OPTIONS },
  details: [
    'A completed job is gone, unless the backend was told to keep records. RabbitMQ and SQS find only dead ones. Exit',
    'code 1: there is no such job.',
  ],
  examples: [
    ['surety jobs show 01890a5d-ac96-774b-bcce-b302099a8057', 'looked for in every queue'],
    ['surety jobs show 01890a5d-ac96-774b-bcce-b302099a8057 -q mail --json', 'in one queue, for a program'],
  ],
  run: (invocation) => {
    const { values, words, output } = invocation;
    const id = jobId(words[0] ?? '');
    const queue = queueOption(values);
    return withStore(invocation, async (store) => {
      const job = await find(store, queue, id);
      if (job === null) {
        const why =
          store.backend.lookup === undefined
            ? `among the dead letters there is no job ${id}; others cannot be found by id in this store`
            : `there is no job ${id}; it has ended, or it never was here`;
        output.error(`${store.shown}: ${why}.`);
        return EXIT.no;
      }
      if (flag(values, 'json')) output.json(job);
      else output.print(...jobLines(job));
      return EXIT.ok;
    });
  },
};

async function find(store: OpenStore, named: string | null, id: string): Promise<JobView | null> {
  const { lookup } = store.backend;
  if (lookup === undefined) return findDead(store, named, id);
  for (const queue of await queuesOf(store, named)) {
    const job = await lookup.find(queue, id, store.call);
    if (job !== null) return job;
  }
  return null;
}
