import type { Backend } from '@surety/core/contract';

const LOOKED_AT = 100;
const REDRIVEN = 40;
const DISCARDED = 10;

/** What an operator does after an incident: some of the dead are tried again, some are given up. */
export async function operate(backend: Backend, queue: string, timeoutMs: number): Promise<void> {
  const page = await backend.deadLetters.list(
    { queue, limit: LOOKED_AT, cursor: null, type: null },
    { timeoutMs },
  );
  // Where moves are copies the same job may be there twice.
  const ids = [...new Set(page.entries.map(({ id }) => id))];
  const again = ids.slice(0, Math.min(REDRIVEN, Math.ceil(ids.length / 2)));
  if (again.length > 0) await backend.deadLetters.redrive(queue, { ids: again }, { timeoutMs });
  const given = ids.slice(again.length, again.length + DISCARDED);
  if (given.length > 0) await backend.deadLetters.discard(queue, { ids: given }, { timeoutMs });
}
