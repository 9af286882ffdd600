import type { Backend } from '@surety/core/contract';
import { override } from '../../stage/override.ts';
import { type Connect, connectTo } from '../../stage/place.ts';

/** A store whose due times are those of the enqueuing host's clock, where that is behind. */
export async function connect(args: unknown): Promise<Backend> {
  const backend = await connectTo(args as Connect);
  return override(backend, {
    enqueue: (jobs, options) =>
      backend.enqueue(
        jobs.map((job) => (job.delayMs === 0 ? job : { ...job, delayMs: skewed(job.delayMs) })),
        options,
      ),
  });
}

function skewed(delayMs: number): number {
  const skewMs = Date.now() - (performance.timeOrigin + performance.now());
  return Math.max(0, Math.round(delayMs + Math.min(0, skewMs)));
}
