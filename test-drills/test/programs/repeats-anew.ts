import { randomUUID } from 'node:crypto';
import type { Backend } from '@surety/core/contract';
import { override } from '../../stage/override.ts';
import { type Connect, connectTo } from '../../stage/place.ts';

/** An adapter that takes a lost answer for a refusal: what may be stored is stored once more, as another job. */
export async function connect(args: unknown): Promise<Backend> {
  const backend = await connectTo(args as Connect);
  return override(backend, {
    async enqueue(jobs, options) {
      const outcomes = await backend.enqueue(jobs, options);
      const open = jobs.filter((_, index) => outcomes[index]?.status === 'unknown');
      // Until somebody can be reached, as such adapters do.
      void repeat(open.map((job) => ({ ...job, id: randomUUID() })));
      return outcomes;
    },
  });

  async function repeat(jobs: Parameters<Backend['enqueue']>[0]): Promise<void> {
    for (let left = jobs; left.length > 0; ) {
      const outcomes = await backend.enqueue(left, { timeoutMs: 1000 }).catch(() => []);
      left = left.filter((_, index) => outcomes[index]?.status !== 'accepted');
    }
  }
}
