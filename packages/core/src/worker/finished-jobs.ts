import type { Attempt } from './attempt.ts';

/** Attempts whose settlement is decided and not yet sent, oldest first. */
export class FinishedJobs {
  #jobs: Attempt[] = [];

  get size(): number {
    return this.#jobs.length;
  }
  /** Those that are still to be settled: a lease may be lost while its settlement waits. */
  get open(): number {
    return this.#jobs.filter(({ state }) => state !== 'gone').length;
  }
  get oldestEndedAt(): number | null {
    return this.#jobs[0]?.endedAt ?? null;
  }

  add(attempt: Attempt): void {
    this.#jobs.push(attempt);
  }

  takeAll(): Attempt[] {
    return this.#jobs.splice(0);
  }

  /** What may be sent now: not past its lease, and no renewal of it under way (it could make a settled lease look alive). */
  take(limit: number, isSendable: (attempt: Attempt) => boolean): Attempt[] {
    const batch: Attempt[] = [];
    const later: Attempt[] = [];
    for (const attempt of this.#jobs) {
      if (!isSendable(attempt)) continue;
      if (attempt.group.renewing !== null || batch.length === limit) later.push(attempt);
      else batch.push(attempt);
    }
    this.#jobs = later;
    return batch;
  }
}
