import { randomUUID } from 'node:crypto';
import { DEFAULT_PRIORITY, type EnqueueOutcome } from '@surety/core/contract';
import { override } from '../stage/override.ts';
import { alterJobs, each, type Saboteur } from './saboteur.ts';

/** Bugs between a producer and the store. */
export const enqueueSaboteurs: readonly Saboteur[] = [
  {
    id: 'acknowledges-before-storing',
    bug: 'every tenth job is said to be accepted and never stored',
    mustFail: ['G1.1/many-producers', 'G1.6/most-items'],
    over: 'memory',
    plant: () => forgetEveryTenth(),
  },
  {
    id: 'acknowledges-before-storing-in-another-process',
    bug: 'the same bug, in the process of the producer',
    mustFail: ['G1.1/killed-while-enqueueing'],
    over: 'sqlite',
    plant: () => forgetEveryTenth(),
  },
  {
    id: 'duplicates-batch-item',
    bug: 'the second item of a batch is stored twice, under an id of its own',
    mustFail: ['G1.6/most-items', 'G1.3/duplicates-in-batch'],
    over: 'memory',
    plant: each((backend) =>
      override(backend, {
        async enqueue(jobs, options) {
          const second = jobs[1];
          if (second !== undefined) await backend.enqueue([{ ...second, id: randomUUID() }], options);
          return backend.enqueue(jobs, options);
        },
      }),
    ),
  },
  {
    id: 'bad-item-fails-batch',
    bug: 'one rejected item rejects its whole batch',
    mustFail: ['G1.3/oversized-item'],
    over: 'memory',
    plant: each((backend) =>
      override(backend, {
        async enqueue(jobs, options) {
          const outcomes = await backend.enqueue(jobs, options);
          const bad = outcomes.find((outcome) => outcome.status === 'rejected');
          return bad === undefined ? outcomes : jobs.map(({ id }): EnqueueOutcome => ({ ...bad, id }));
        },
      }),
    ),
  },
  {
    id: 'swallows-unknown',
    bug: 'a lost answer is taken for an acceptance',
    mustFail: ['G1.2/answers-lost', 'G1.2/isolated'],
    over: 'memory',
    plant: each((backend) =>
      override(backend, {
        async enqueue(jobs, options) {
          const outcomes = await backend.enqueue(jobs, options).catch(() => null);
          return jobs.map(({ id }, index): EnqueueOutcome => {
            const outcome = outcomes?.[index];
            const away =
              outcome === undefined || outcome.status === 'unknown' || outcome.status === 'rejected';
            return away ? { status: 'accepted', id } : outcome;
          });
        },
      }),
    ),
  },
  {
    id: 'hangs-when-away',
    bug: 'an enqueue waits for ever while the store is away',
    mustFail: ['G1.2/isolated', 'G1.2/answers-lost'],
    over: 'memory',
    plant: each((backend) =>
      override(backend, {
        async enqueue(jobs, options) {
          const outcomes = await backend.enqueue(jobs, options).catch(() => null);
          const away = outcomes?.some(({ status }) => status === 'unknown' || status === 'rejected') ?? true;
          return away ? new Promise(() => {}) : (outcomes ?? []);
        },
      }),
    ),
  },
  {
    id: 'forgets-id',
    bug: 'an id that is still stored is accepted again, under an id of its own',
    mustFail: ['G3.2/while-present', 'G3.2/rivals'],
    over: 'memory',
    plant: each((backend) =>
      override(backend, {
        async enqueue(jobs, options) {
          const outcomes = await backend.enqueue(jobs, options);
          return Promise.all(
            outcomes.map(async (outcome, index): Promise<EnqueueOutcome> => {
              const job = jobs[index];
              if (job === undefined || outcome.status !== 'duplicate' || job.dedupe !== null) return outcome;
              await backend.enqueue([{ ...job, id: randomUUID() }], options);
              return { status: 'accepted', id: job.id };
            }),
          );
        },
      }),
    ),
  },
  {
    id: 'dedupe-not-atomic',
    bug: 'a dedupe key is looked up first and taken later',
    mustFail: ['G3.3/rivals'],
    over: 'memory',
    plant() {
      const owners = new Map<string, string>();
      return (backend) =>
        override(backend, {
          async enqueue(jobs, options) {
            const outcomes: EnqueueOutcome[] = [];
            for (const job of jobs) {
              const key = `${job.queue}/${job.dedupe?.key}`;
              const owner = owners.get(key);
              if (job.dedupe !== null && owner !== undefined) {
                outcomes.push({ status: 'duplicate', id: job.id, of: owner });
                continue;
              }
              outcomes.push(...(await backend.enqueue([{ ...job, dedupe: null }], options)));
              if (job.dedupe !== null) owners.set(key, job.id);
            }
            return outcomes;
          },
        });
    },
  },
  {
    id: 'dedupe-ends-with-job',
    bug: 'a dedupe key is freed when its job completes, before its window has passed',
    mustFail: ['G3.3/one-per-key'],
    over: 'memory',
    plant() {
      const keys = new Map<string, { readonly queue: string; readonly key: string }>();
      return (backend) =>
        override(backend, {
          async enqueue(jobs, options) {
            for (const { id, queue, dedupe } of jobs)
              if (dedupe !== null) keys.set(id, { queue, key: dedupe.key });
            return backend.enqueue(jobs, options);
          },
          async settle(settlements, options) {
            for (const { kind, lease } of settlements) {
              const held = keys.get(lease.id);
              if (kind === 'complete' && held) await backend.dedupe?.forget(held.queue, held.key, options);
            }
            return backend.settle(settlements, options);
          },
        });
    },
  },
  {
    id: 'ignores-max-depth',
    bug: 'the maximum depth of a queue is not looked at',
    mustFail: ['G7.3/exact-depth', 'G7.3/rivals'],
    over: 'memory',
    plant: each((backend) => alterJobs(backend, (job) => ({ ...job, maxDepth: null }))),
  },
  {
    id: 'ignores-priority',
    bug: 'every job gets the default level',
    mustFail: ['G8.4/better-first', 'G8.4/kept-over-return'],
    over: 'memory',
    plant: each((backend) => alterJobs(backend, (job) => ({ ...job, priority: DEFAULT_PRIORITY }))),
  },
  {
    id: 'reserialises-payload',
    bug: 'payloads are parsed and written again on their way to the store',
    mustFail: ['G7.2/verbatim', 'G5.4/each-state'],
    over: 'memory',
    plant: each((backend) =>
      alterJobs(backend, (job) => ({ ...job, payload: JSON.stringify(JSON.parse(job.payload) as unknown) })),
    ),
  },
  {
    id: 'cuts-at-nul',
    bug: 'an escaped NUL in a payload is dropped',
    mustFail: ['G7.2/verbatim'],
    over: 'memory',
    plant: each((backend) =>
      alterJobs(backend, (job) => ({ ...job, payload: job.payload.replaceAll('\\u0000', '') })),
    ),
  },
  {
    id: 'hands-out-early',
    bug: 'delays end at nine tenths of their length',
    mustFail: ['G8.2/not-before-due', 'G8.3/a-year-passes'],
    over: 'memory',
    plant: each((backend) =>
      alterJobs(backend, (job) => ({ ...job, delayMs: Math.floor(job.delayMs * 0.9) })),
    ),
  },
  {
    id: 'delays-fit-a-timer',
    bug: 'a delay of more than 2^31 - 1 ms wraps round to none',
    mustFail: ['G8.3/a-year', 'G8.3/a-year-passes'],
    over: 'memory',
    plant: each((backend) =>
      alterJobs(backend, (job) => ({ ...job, delayMs: job.delayMs > 2 ** 31 - 1 ? 1 : job.delayMs })),
    ),
  },
];

function forgetEveryTenth(): (backend: Parameters<typeof override>[0]) => ReturnType<typeof override> {
  let seen = 0;
  return (backend) =>
    override(backend, {
      async enqueue(jobs, options) {
        const forgotten = new Set(jobs.filter(() => ++seen % 10 === 0));
        const outcomes = await backend.enqueue(
          jobs.filter((job) => !forgotten.has(job)),
          options,
        );
        const byId = new Map(outcomes.map((outcome) => [outcome.id, outcome]));
        return jobs.map(({ id }): EnqueueOutcome => byId.get(id) ?? { status: 'accepted', id });
      },
    });
}
