import { describe, expect, test } from 'vitest';
import { Fifo } from '../src/collections/fifo.ts';
import { IndexedHeap } from '../src/collections/indexed-heap.ts';
import { createRandom } from '../src/store/random.ts';

interface Item {
  key: number;
  heapIndex: number;
}

const heap = (): IndexedHeap<Item> => new IndexedHeap<Item>((a, b) => a.key - b.key);
const item = (key: number): Item => ({ key, heapIndex: -1 });

function drain(from: IndexedHeap<Item>): number[] {
  const keys: number[] = [];
  for (let next = from.pop(); next !== undefined; next = from.pop()) keys.push(next.key);
  return keys;
}

describe('heap', () => {
  test('gives its items back in order, whatever order they came in', () => {
    const subject = heap();
    for (const key of [5, 3, 8, 1, 9, 1, 4]) subject.push(item(key));
    expect(drain(subject)).toEqual([1, 1, 3, 4, 5, 8, 9]);
  });

  test('stays in order under random pushes, removals and changed keys, as a sorted list would', () => {
    const random = createRandom(42);
    const subject = heap();
    const model = new Set<Item>();
    const any = (): Item | undefined => [...model][Math.floor(random() * model.size)];
    for (let step = 0; step < 5000; step += 1) {
      const dice = random();
      const chosen = any();
      if (dice < 0.5 || chosen === undefined) {
        const added = item(Math.floor(random() * 1000));
        subject.push(added);
        model.add(added);
      } else if (dice < 0.7) {
        expect(subject.remove(chosen)).toBe(true);
        model.delete(chosen);
      } else if (dice < 0.9) {
        chosen.key = Math.floor(random() * 1000);
        subject.update(chosen);
      } else {
        const smallest = Math.min(...[...model].map(({ key }) => key));
        const popped = subject.pop();
        expect(popped?.key).toBe(smallest);
        if (popped !== undefined) model.delete(popped);
      }
      expect(subject.size).toBe(model.size);
    }
    expect(drain(subject)).toEqual([...model].map(({ key }) => key).sort((a, b) => a - b));
  });

  test('does not remove what is not in it', () => {
    const [one, other] = [heap(), heap()];
    const inOther = item(1);
    one.push(item(1));
    other.push(inOther);
    expect(one.remove(inOther)).toBe(false);
    expect(one.remove(item(1))).toBe(false);
    expect([one.size, other.size]).toEqual([1, 1]);
  });
});

describe('fifo', () => {
  test('keeps order over many compactions', () => {
    const subject = new Fifo<number>();
    let [pushed, shifted] = [0, 0];
    for (let round = 0; round < 20; round += 1) {
      for (let count = 0; count < 1000; count += 1) subject.push(pushed++);
      for (let count = 0; count < 900; count += 1) expect(subject.shift()).toBe(shifted++);
    }
    expect(subject.size).toBe(2000);
    expect(subject.peek()).toBe(shifted);
    while (subject.size > 0) expect(subject.shift()).toBe(shifted++);
    expect(subject.shift()).toBeUndefined();
    expect(shifted).toBe(pushed);
  });
});
