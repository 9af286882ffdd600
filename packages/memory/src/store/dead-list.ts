import type { Copy } from './copy.ts';

/** Dead copies in order of death. Removal is O(log n); the holes are closed once they are half of the list. */
export class DeadList {
  #entries: (Copy | null)[] = [];
  #serials: number[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The serial of its death must be greater than any before. */
  push(copy: Copy, serial: number): void {
    this.#entries.push(copy);
    this.#serials.push(serial);
    this.#size += 1;
  }

  remove(serial: number): void {
    const at = this.#firstNotBelow(serial);
    if (this.#serials[at] !== serial || this.#entries[at] === null) return;
    this.#entries[at] = null;
    this.#size -= 1;
    if (this.#size * 2 < this.#entries.length) this.#compact();
  }

  /** Newest first; only deaths with a serial below `before`. */
  *newestFirst(before: number = Number.POSITIVE_INFINITY): Generator<Copy> {
    const entries = this.#entries;
    for (let at = this.#firstNotBelow(before) - 1; at >= 0; at -= 1) {
      const copy = entries[at];
      if (copy !== null && copy !== undefined) yield copy;
    }
  }

  #firstNotBelow(serial: number): number {
    let low = 0;
    let high = this.#serials.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#serials[middle] as number) < serial) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compact(): void {
    const kept = this.#entries.map((copy, at) => ({ copy, serial: this.#serials[at] as number }));
    const live = kept.filter((entry) => entry.copy !== null);
    this.#entries = live.map((entry) => entry.copy);
    this.#serials = live.map((entry) => entry.serial);
  }
}
