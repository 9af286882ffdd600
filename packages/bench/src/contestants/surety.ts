import { createClient, createWorker, defineJob, handle, type LogChoice } from '@surety/core';
import type { Backend } from '@surety/core/contract';
import type { Observer } from '../observers/observer.ts';
import type { Contestant, Payload } from './contestant.ts';

const benchJob = defineJob<Payload>('bench', { queue: 'bench' });

export interface SuretyStore {
  readonly name: string;
  /** The peers have none. `all` writes to standard output, here a pipe that is read. */
  readonly log: LogChoice;
  readonly packages: readonly string[];
  readonly backend: (location: string) => Backend;
  readonly observe: (location: string) => Promise<Observer>;
}

/** Surety with its defaults, so with every guarantee. */
export function suretyOn({ name, log, packages, backend, observe }: SuretyStore): Contestant {
  return {
    name,
    packages: ['@surety/core', ...packages],
    observe,
    async prepare(location) {
      await using client = createClient({ backend: backend(location) });
      await client.start();
    },
    async startProducer(location) {
      const client = createClient({ backend: backend(location) });
      await client.start();
      return {
        async enqueue(payload) {
          await client.enqueue(benchJob, payload);
        },
        async enqueueMany(payloads, delayMs = 0) {
          const options = { delay: delayMs };
          const results = await client.enqueueMany(
            payloads.map((input) => ({ job: benchJob, input, ...(delayMs > 0 && { options }) })),
          );
          const refused = results.find(({ status }) => status !== 'accepted');
          if (refused !== undefined) throw new Error(`a job was not accepted: ${JSON.stringify(refused)}`);
        },
        stop: () => client.close(),
      };
    },
    async startWorker(location, { concurrency, handler }) {
      const worker = createWorker({
        backend: backend(location),
        concurrency,
        log,
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
