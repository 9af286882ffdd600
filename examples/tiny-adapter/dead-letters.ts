import type { DeadLetters, DeadSelection } from '@surety/core/contract';
import type { Entry, TinyStore } from './store.ts';
import { deadLetterOf } from './views.ts';

type DeadEntry = Entry & { readonly dead: NonNullable<Entry['dead']> };

/** What an operator does. A listing changes nothing; a redrive keeps id, key, payload, headers and history (G6). */
export function deadLetters(store: TinyStore, check: (operation: string) => void): DeadLetters {
  function newestFirst(queue: string, type: string | null): DeadEntry[] {
    return [...store.jobs.values()]
      .filter((entry) => entry.job.queue === queue && (type === null || entry.job.type === type))
      .filter((entry): entry is DeadEntry => entry.dead !== null)
      .sort((a, b) => b.dead.seq - a.dead.seq);
  }

  /** By ids: one answer each, in order; each is looked up when its turn comes, since an id may be named twice. */
  function forEach<T>(
    queue: string,
    selection: DeadSelection,
    act: (id: string, entry: DeadEntry | undefined) => T,
  ): T[] {
    if (!('ids' in selection)) {
      const chosen = newestFirst(queue, selection.type).slice(0, selection.limit);
      return chosen.map((entry) => act(entry.job.id, entry));
    }
    const find = (id: string): DeadEntry | undefined =>
      newestFirst(queue, null).find(({ job }) => job.id === id);
    return selection.ids.map((id) => act(id, find(id)));
  }

  return {
    async list({ queue, limit, type }) {
      check('list');
      const entries = newestFirst(queue, type).slice(0, limit);
      return { entries: entries.map((entry) => deadLetterOf(entry, entry.dead, store.now())), cursor: null };
    },
    async show(queue, id) {
      check('show');
      const entry = newestFirst(queue, null).find(({ job }) => job.id === id);
      return entry === undefined ? null : deadLetterOf(entry, entry.dead, store.now());
    },
    async redrive(queue, selection) {
      check('redrive');
      return forEach(queue, selection, (id, entry) => {
        if (entry === undefined) return { status: 'not-found', id };
        reborn(entry, store.now());
        return { status: 'redriven', id };
      });
    },
    async discard(queue, selection) {
      check('discard');
      return forEach(queue, selection, (id, entry) => {
        if (entry === undefined) return { status: 'not-found', id };
        store.jobs.delete(id);
        return { status: 'discarded', id };
      });
    },
  };
}

/** Ready now, and as new but for what tells its story. */
function reborn(entry: Entry, now: number): void {
  entry.dead = null;
  entry.dueAt = now;
  entry.redrives += 1;
  entry.attempt = 0;
  entry.lostClaims = 0;
  entry.interruptions = 0;
  entry.lossBackedOff = false;
  entry.unknownTypeSince = null;
}
