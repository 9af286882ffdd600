import { setTimeout as pause } from 'node:timers/promises';
import type { Effects } from './effects.ts';
import type { Progress } from './progress.ts';
import type { Observer, QueueLook } from './read-store.ts';
import type { WorkerProcess } from './start-worker.ts';

/** What is watched, and where it is shown. */
export interface Watched {
  readonly observer: Pick<Observer, 'look' | 'extraCopies'>;
  readonly effects: Pick<Effects, 'count'>;
  readonly progress: Pick<Progress, 'step' | 'update'>;
  /** Jobs in the queue at the start. */
  readonly total: number;
}

/**
 * The longest standstill in good order is a lease of 3 s or the last delay of a retry. Past this time the work is broken
 * off, and the account shows what is missing. No limit of the whole: a slow machine is no fault.
 */
const STANDSTILL_MS = 30_000;
const LOOK_EVERY_MS = 100;

/** Looks at the store until something is so, and shows what it sees. */
export class Watch {
  readonly workers: Set<Pick<WorkerProcess, 'failure'>> = new Set();
  readonly #place: Watched;
  #copies = 0;
  #seen = '';
  #seenAt = performance.now();

  constructor(place: Watched) {
    this.#place = place;
  }

  async until(holds: (waiting: number) => boolean): Promise<void> {
    while (this.#leftMs() > 0) {
      const look = await this.#place.observer.look();
      const waiting = await this.#waiting(look);
      this.#show(look, waiting);
      if (holds(waiting)) return;
      await this.orEnd(pause(LOOK_EVERY_MS));
    }
    this.#place.progress.step('stuck', 'nothing goes on any more; broken off');
  }

  /** Waits for the promise, but not through a standstill, and not when a worker has ended by itself: then it throws. */
  async orEnd(promise: Promise<unknown>): Promise<void> {
    const waiting = new AbortController();
    const limit = pause(this.#leftMs(), undefined, { signal: waiting.signal }).catch(() => undefined);
    await Promise.race([promise, limit, ...[...this.workers].map(({ failure }) => failure)]).finally(() =>
      waiting.abort(),
    );
  }

  #leftMs(): number {
    return Math.max(0, this.#seenAt + STANDSTILL_MS - performance.now());
  }

  /**
   * Where the store does not tell what is leased, what has neither had an effect nor died is still under way. A dead letter that
   * a killed worker left twice counts as one, or the job that runs last would be taken for ended. Only a list tells which
   * these are, and it is read when the plain figures say that nothing is left, since listing costs more than a look.
   */
  async #waiting(look: QueueLook): Promise<number> {
    if (look.leased !== null) return look.waiting;
    if (this.#underWay(look) > 0) return this.#underWay(look);
    this.#copies = await this.#place.observer.extraCopies();
    return this.#underWay(look);
  }

  #underWay({ waiting, dead }: QueueLook): number {
    const { total, effects } = this.#place;
    return Math.max(waiting, total - effects.count() - (dead - this.#copies));
  }

  #show({ leased, scheduled, dead }: QueueLook, waiting: number): void {
    const { total, effects, progress } = this.#place;
    const figures = `leased ${leased ?? '?'}, to retry ${scheduled}, dead ${dead}, effects ${effects.count()}`;
    const text = `${String(total - waiting).padStart(3)} of ${total} ended: ${figures}`;
    progress.update(text);
    if (text === this.#seen) return;
    this.#seen = text;
    this.#seenAt = performance.now();
  }
}
