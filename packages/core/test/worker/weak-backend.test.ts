import { createClient, defineJob, handle } from '@surety/core';
import { createMemoryStore, memory } from '@surety/memory';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pass, stopNow, stopTime, trial } from '../support/worker-trial.ts';

const job = defineJob<{ n: number }>('test.job', { retry: { maxAttempts: 50, base: 10, cap: 100 } });

beforeEach(stopTime);
afterEach(() => {
  vi.useRealTimers();
});

test.each([1, 2, 3])(
  'every job is done on a backend with all the faults of a broker (seed %i)',
  async (seed) => {
    const store = createMemoryStore();
    const faults = { duplicate: 0.05, emptyClaim: 0.1, unknownSettle: 0.1 };
    const workers = [1, 2].map((each) => {
      const backend = memory({ store, profile: 'weak', seed: seed * 10 + each, faults });
      return { backend };
    });
    const done = new Set<number>();
    const trials = workers.map(({ backend }) =>
      trial({
        backend,
        lease: 2000,
        concurrency: 5,
        handlers: [
          handle(job, async ({ n }) => {
            await new Promise((resolve) => setTimeout(resolve, 5));
            if (Math.random() < 0.1) throw new Error('again');
            done.add(n);
          }),
        ],
      }),
    );
    const client = createClient({
      backend: memory({ store, profile: 'weak', seed, faults: { duplicate: 0 } }),
    });
    for (let n = 0; n < 300; n += 1) await client.enqueue(job, { n });
    for (const { worker } of trials) await worker.start();
    await pass(1000);
    for (let cut = 0; cut < 5; cut += 1) {
      store.faults.cutAll();
      await pass(3000);
    }
    await pass(60_000);
    expect(done.size).toBe(300);
    for (const { of, worker } of trials) {
      expect(of('dead')).toEqual([]);
      expect(worker.health()).toMatchObject({ ok: true, running: 0 });
    }
    for (const { worker } of trials) await stopNow(worker);
    await client.close();
  },
);
