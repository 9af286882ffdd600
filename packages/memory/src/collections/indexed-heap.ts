/** An item knows its place in the one heap it is in; -1: in none. */
export interface HeapItem {
  heapIndex: number;
}

/** A binary heap, smallest first, from which any item can be removed. Push, pop and remove are O(log n). */
export class IndexedHeap<T extends HeapItem> {
  readonly #items: T[] = [];
  readonly #compare: (a: T, b: T) => number;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    item.heapIndex = this.#items.length;
    this.#items.push(item);
    this.#up(item);
  }

  pop(): T | undefined {
    const first = this.#items[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** False when the item is not in this heap. */
  remove(item: T): boolean {
    const at = item.heapIndex;
    if (at < 0 || this.#items[at] !== item) return false;
    const last = this.#items.pop() as T;
    item.heapIndex = -1;
    if (last === item) return true;
    this.#put(last, at);
    this.#settle(last);
    return true;
  }

  /** To be called after the key of an item in the heap was changed. */
  update(item: T): void {
    this.#settle(item);
  }

  /** All items, in no order. */
  values(): IterableIterator<T> {
    return this.#items.values();
  }

  #settle(item: T): void {
    const before = item.heapIndex;
    this.#up(item);
    if (item.heapIndex === before) this.#down(item);
  }

  #up(item: T): void {
    while (item.heapIndex > 0) {
      const above = (item.heapIndex - 1) >> 1;
      const parent = this.#items[above] as T;
      if (this.#compare(parent, item) <= 0) return;
      this.#put(parent, item.heapIndex);
      this.#put(item, above);
    }
  }

  #down(item: T): void {
    for (;;) {
      const left = 2 * item.heapIndex + 1;
      const a = this.#items[left];
      if (a === undefined) return;
      const b = this.#items[left + 1];
      const child = b !== undefined && this.#compare(b, a) < 0 ? b : a;
      if (this.#compare(item, child) <= 0) return;
      const below = child.heapIndex;
      this.#put(child, item.heapIndex);
      this.#put(item, below);
    }
  }

  #put(item: T, at: number): void {
    this.#items[at] = item;
    item.heapIndex = at;
  }
}
