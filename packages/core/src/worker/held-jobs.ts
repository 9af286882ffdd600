import type { Attempt } from './attempt.ts';

/** Claimed jobs that wait for a slot, oldest first. Taking one is O(1). */
export class HeldJobs {
  #jobs: Attempt[] = [];
  #head = 0;

  get size(): number {
    return this.#jobs.length - this.#head;
  }
  /** When the oldest was received; null: none is held. */
  get oldestAt(): number | null {
    return this.#jobs[this.#head]?.heldAt ?? null;
  }

  add(attempt: Attempt): void {
    this.#jobs.push(attempt);
  }

  take(): Attempt | null {
    const attempt = this.#jobs[this.#head];
    if (attempt === undefined) return null;
    this.#head += 1;
    if (this.#head === this.#jobs.length) this.#clear();
    return attempt;
  }

  /** What is still held: a job whose lease was lost meanwhile is nobody's to hand back. */
  takeAll(): Attempt[] {
    const all = this.#jobs.slice(this.#head).filter(({ state }) => state === 'held');
    this.#clear();
    return all;
  }

  #clear(): void {
    this.#jobs = [];
    this.#head = 0;
  }
}
