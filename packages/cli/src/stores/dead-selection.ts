import { jobId, queueOption, typeOption } from '../arguments/values.ts';
import type { Invocation } from '../command.ts';
import { UsageError } from '../exit-codes.ts';
import { deadLettersOf, findDead } from './dead-letters.ts';
import type { OpenStore } from './open-store.ts';
import { queuesOf } from './queues-of.ts';

/** Which dead letters were named: by id, by type, or all. */
export interface Selection {
  readonly queue: string | null;
  readonly ids: readonly string[];
  readonly type: string | null;
}

/** What was found of it. */
export interface Found {
  readonly byQueue: ReadonlyMap<string, readonly string[]>;
  /** Ids that no queue holds as a dead letter. */
  readonly missing: readonly string[];
}

/** Exactly one of ids, `--type` and `--all`. Throws UsageError. */
export function selectionOf({ words, values }: Invocation): Selection {
  const ids = [...new Set(words.map(jobId))];
  const type = typeOption(values);
  const ways = [ids.length > 0, type !== null, values['all'] === true].filter(Boolean).length;
  if (ways !== 1) throw new UsageError('Say which: one or more ids, --type T, or --all.');
  return { queue: queueOption(values), ids, type };
}

/**
 * Looks once. What dies later is not part of it: a job that is redriven and dies again at once must not be redriven
 * again and again.
 */
export async function findSelected(store: OpenStore, { queue, ids, type }: Selection): Promise<Found> {
  const byQueue = new Map<string, string[]>();
  const missing: string[] = [];
  const add = (to: string, id: string): void => void byQueue.set(to, [...(byQueue.get(to) ?? []), id]);
  for (const id of ids) {
    const letter = await findDead(store, queue, id);
    if (letter === null) missing.push(id);
    else add(letter.queue, id);
  }
  if (ids.length > 0) return { byQueue, missing };
  for (const each of await queuesOf(store, queue)) {
    const found: string[] = [];
    for await (const { id } of deadLettersOf(store, each, type)) found.push(id);
    if (found.length > 0) byQueue.set(each, found);
  }
  return { byQueue, missing };
}
