// region: harness
import type { Harness } from '@surety/conformance';
import { tiny } from '../backend.ts';
import { createTinyStore } from '../store.ts';

/** The suite's way to the backend: one store, and a new backend on it for every rival that the suite wants. */
export function createHarness(): Harness {
  const store = createTinyStore();
  return {
    name: 'tiny',
    variant: null,
    serverless: true,
    versions: async () => ({ node: process.versions.node }),
    prepare: async () => undefined,
    destroy: async () => undefined,
    backend: () => tiny(store),
    // As if the time had passed for what waits in one queue, so that nobody waits a year for a delay of a year.
    elapse: async (queue, ms) => {
      for (const entry of store.jobs.values()) if (entry.job.queue === queue) entry.dueAt -= ms;
    },
    corruptPayload: async (_queue, id) => {
      const entry = store.jobs.get(id);
      if (entry === undefined) throw new Error(`No job ${id}.`);
      store.jobs.set(id, { ...entry, job: { ...entry.job, payload: '{"cut off' } });
      return 'written';
    },
  };
}
// endregion
