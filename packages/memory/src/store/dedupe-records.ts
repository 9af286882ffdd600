import { type HeapItem, IndexedHeap } from '../collections/indexed-heap.ts';

interface DedupeRecord extends HeapItem {
  readonly key: string;
  readonly id: string;
  readonly until: number;
}

/** Which job holds which key, until its window has passed, whatever became of the job. */
export class DedupeRecords {
  readonly #byKey = new Map<string, DedupeRecord>();
  readonly #byEnd = new IndexedHeap<DedupeRecord>((a, b) => a.until - b.until);

  /** Id of the holder; null when free. Records that have ended must have been expired before. */
  owner(key: string): string | null {
    return this.#byKey.get(key)?.id ?? null;
  }

  put(key: string, id: string, until: number): void {
    this.forget(key);
    const record: DedupeRecord = { key, id, until, heapIndex: -1 };
    this.#byKey.set(key, record);
    this.#byEnd.push(record);
  }

  forget(key: string): void {
    const record = this.#byKey.get(key);
    if (record === undefined) return;
    this.#byKey.delete(key);
    this.#byEnd.remove(record);
  }

  expire(now: number): void {
    for (let next = this.#byEnd.peek(); next !== undefined && next.until <= now; next = this.#byEnd.peek()) {
      this.forget(next.key);
    }
  }
}
