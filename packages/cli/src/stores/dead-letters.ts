import type { DeadLetter } from '@surety/core/contract';
import type { OpenStore } from './open-store.ts';
import { queuesOf } from './queues-of.ts';

/** Entries of one page. They carry payloads, up to 200 KiB each by default. */
const PAGE = 100;
/** Where the store has no cursor, one page has to be all: so many, and whoever wants more asks again. */
const WHOLE = 50_000;

/** Dead letters of a queue, in the store's order, page by page where the store has a cursor. */
export async function* deadLettersOf(
  { backend, call }: OpenStore,
  queue: string,
  type: string | null,
  limit: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<DeadLetter> {
  let cursor: string | null = null;
  let left = limit;
  const most = backend.capabilities.deadLetters.cursor ? PAGE : WHOLE;
  do {
    const wanted = Math.min(most, left);
    const page = await backend.deadLetters.list({ queue, limit: wanted, cursor, type }, call);
    yield* page.entries;
    left -= page.entries.length;
    cursor = page.cursor;
  } while (cursor !== null && left > 0);
}

/** The dead letter with this id, looked for in the named queue or in all. */
export async function findDead(
  store: OpenStore,
  named: string | null,
  id: string,
): Promise<DeadLetter | null> {
  for (const queue of await queuesOf(store, named)) {
    const found = await store.backend.deadLetters.show(queue, id, store.call);
    if (found !== null) return found;
  }
  return null;
}
