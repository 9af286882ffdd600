import { describe, expect, it } from 'vitest';
import { type Consumer, newConsumer } from '../src/claims/deliveries.ts';
import { Unproven } from '../src/claims/unproven.ts';

const MOST = 24;

/** A consumer that was brought all it may have. */
function full(prefetch: number): Consumer {
  const consumer = newConsumer(prefetch);
  consumer.delivered = prefetch;
  return consumer;
}

function acknowledge(unproven: Unproven, consumer: Consumer): void {
  consumer.settled += 1;
  unproven.add(1, consumer);
}

function bring(unproven: Unproven, consumer: Consumer, jobs: number): void {
  consumer.delivered += jobs;
  unproven.brought();
}

describe('what was sent to a queue and may not be written', () => {
  it('leaves room for so much more', () => {
    const unproven = new Unproven();
    const consumer = full(100);
    for (let n = 0; n < MOST; n++) {
      expect(unproven.room).toBe(MOST - n);
      acknowledge(unproven, consumer);
    }
    expect(unproven.room).toBe(0);
  });

  it('is proven by jobs that had no room before', () => {
    const unproven = new Unproven();
    const consumer = full(100);
    for (let n = 0; n < 10; n++) acknowledge(unproven, consumer);
    bring(unproven, consumer, 3);
    expect(unproven.room).toBe(MOST - 7);
    bring(unproven, consumer, 7);
    expect(unproven.room).toBe(MOST);
  });

  it('is not proven by jobs that had room all the time', () => {
    const unproven = new Unproven();
    const consumer = newConsumer(100);
    consumer.delivered = 50;
    for (let n = 0; n < 10; n++) acknowledge(unproven, consumer);
    bring(unproven, consumer, 50);
    expect(unproven.room).toBe(MOST - 10);
    bring(unproven, consumer, 1);
    expect(unproven.room).toBe(MOST - 9);
  });

  it('is proven by jobs of its own consumer only, and not past what was sent back', () => {
    const unproven = new Unproven();
    const [first, second] = [full(10), full(10)];
    acknowledge(unproven, first);
    acknowledge(unproven, second);
    bring(unproven, second, 1);
    expect(unproven.room).toBe(MOST - 2);
    bring(unproven, first, 1);
    // The second is behind it, and has been proven before.
    expect(unproven.room).toBe(MOST);
    unproven.add(1, null);
    acknowledge(unproven, first);
    bring(unproven, first, 1);
    expect(unproven.room).toBe(MOST - 2);
  });

  it('is proven by an answer that comes by way of the log, as far as it was sent before the question', async () => {
    const unproven = new Unproven();
    const consumer = full(10);
    const answer = Promise.withResolvers<string>();
    acknowledge(unproven, consumer);
    unproven.add(2, null);
    const asked = unproven.behind(() => answer.promise);
    acknowledge(unproven, consumer);
    const changed = unproven.changed();
    answer.resolve('ok');
    expect(await asked).toBe('ok');
    await changed;
    expect(unproven.room).toBe(MOST - 1);
    await expect(unproven.behind(() => Promise.reject(new Error('closed')))).rejects.toThrow('closed');
    expect(unproven.room).toBe(MOST - 1);
  });
});
