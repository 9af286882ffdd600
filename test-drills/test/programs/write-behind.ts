import { setTimeout as sleep } from 'node:timers/promises';
import type { Backend } from '@surety/core/contract';
import { override } from '../../stage/override.ts';
import { type Connect, connectTo } from '../../stage/place.ts';

const BEHIND_MS = 300;

/** A store that says at once that a job is stored, and stores it a moment later, if it can. */
export async function connect(args: unknown): Promise<Backend> {
  const backend = await connectTo(args as Connect);
  return override(backend, {
    async enqueue(jobs, options) {
      const late = sleep(BEHIND_MS).then(() => backend.enqueue(jobs, options));
      late.catch(() => undefined);
      return jobs.map(({ id }) => ({ status: 'accepted', id }));
    },
  });
}
