import type { Backend } from '@surety/core/contract';
import { override } from '../../stage/override.ts';
import { type Connect, connectTo } from '../../stage/place.ts';

/** A store that says of every job that it has just become ready. */
export async function connect(args: unknown): Promise<Backend> {
  const backend = await connectTo(args as Connect);
  return override(backend, {
    counts: async (queue, options) => ({
      ...(await backend.counts(queue, options)),
      oldestReadyAgeMs: { value: 0, kind: 'exact' },
    }),
  });
}
