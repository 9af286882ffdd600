import type { OpenStore } from './open-store.ts';

/** The queue that was named, or all that the store knows. */
export async function queuesOf(
  { backend, call }: OpenStore,
  named: string | null,
): Promise<readonly string[]> {
  return named === null ? backend.queues(call) : [named];
}
