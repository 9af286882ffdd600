import { createClient, createWorker, defineJob, handle } from '@surety/core';
import type { Backend } from '@surety/core/contract';
import type { Observer } from '../observers/observer.ts';
import type { Contestant, Payload } from './contestant.ts';
import { OURS } from './registry.ts';

const benchJob = defineJob<Payload>('bench', { queue: 'bench' });

export interface SuretyStore {
  readonly packages: readonly string[];
  readonly backend: (location: string) => Backend;
  readonly observe: (location: string) => Promise<Observer>;
}

/** Surety with its defaults: every guarantee is on. Only the log is off, as it is for the peers. */
export function suretyOn({ packages, backend, observe }: SuretyStore): Contestant {
  return {
    name: OURS,
    packages: ['@surety/core', ...packages],
    observe,
    async prepare(location) {
      await using client = createClient({ backend: backend(location) });
      await client.start();
    },
    async fill(location, payloads) {
      await using client = createClient({ backend: backend(location) });
      const results = await client.enqueueMany(payloads.map((input) => ({ job: benchJob, input })));
      const refused = results.find(({ status }) => status !== 'accepted');
      if (refused !== undefined) throw new Error(`a job was not accepted: ${JSON.stringify(refused)}`);
    },
    async startWorker(location, { concurrency, handler }) {
      const worker = createWorker({
        backend: backend(location),
        concurrency,
        log: 'none',
        handlers: [handle(benchJob, handler)],
      });
      await worker.start();
      return {
        async stop() {
          await worker.stop();
        },
      };
    },
  };
}
