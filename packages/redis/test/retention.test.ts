import { randomUUID } from 'node:crypto';
import type { Backend } from '@surety/core/contract';
import { describe, expect, test } from 'vitest';
import { CALL, claim, completion, ERROR, eventually, freshQueue, put, statuses, useStore } from './store.ts';

const JOBS = 3000;
/** What an empty queue keeps: its fence and its mark as known. */
const EMPTY_BYTES = 4096;

// B106
describe('what a queue keeps when its work is done', () => {
  const store = useStore();

  /** Bytes of each key of the queue. */
  async function sizes(queue: string): Promise<ReadonlyMap<string, number>> {
    const keys = (await store.client.keys(`${store.prefix}:{${queue}}:*`)).toSorted();
    const bytes = await Promise.all(
      keys.map((key) => store.client.call('MEMORY', 'USAGE', key, 'SAMPLES', 0)),
    );
    return new Map(keys.map((key, at) => [key.slice(key.lastIndexOf('}:') + 2), Number(bytes[at])]));
  }

  async function total(queue: string): Promise<number> {
    return [...(await sizes(queue)).values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  async function workOff(backend: Backend, queue: string): Promise<void> {
    for (;;) {
      const leases = await claim(backend, queue, { max: 500 });
      if (leases.length === 0) return;
      await backend.settle(leases.map(completion), CALL);
    }
  }

  async function fill(backend: Backend, queue: string, count: number): Promise<void> {
    for (let left = count; left > 0; left -= 500) await put(backend, queue, Math.min(left, 500));
  }

  test('is nothing of completed jobs, by default', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    await fill(backend, queue, JOBS);
    expect(await total(queue)).toBeGreaterThan(JOBS * 100);
    await workOff(backend, queue);
    expect(await total(queue)).toBeLessThan(EMPTY_BYTES);
  });

  test('is nothing of jobs that were retried, cancelled, or dead until they were discarded', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    await fill(backend, queue, 90);
    const first = await claim(backend, queue, { max: 90 });
    await backend.settle(
      first.map((lease, at) =>
        at % 3 === 0
          ? { kind: 'bury', lease, error: ERROR }
          : { kind: 'retry', lease, delayMs: 0, error: ERROR },
      ),
      CALL,
    );
    const second = await claim(backend, queue, { max: 90 });
    await backend.settle(
      second.map((lease, at) =>
        at % 2 === 0 ? completion(lease) : { kind: 'complete', lease, outcome: 'cancelled' },
      ),
      CALL,
    );
    expect((await backend.counts(queue, CALL)).dead.value).toBe(30);
    await backend.deadLetters.discard(queue, { type: null, limit: 500 }, CALL);
    expect(await total(queue)).toBeLessThan(EMPTY_BYTES);
  });

  test('is as many records as were asked for, and their index is no longer', async () => {
    const backend = await store.open({ keepCompletedMs: 3_600_000, keepCompletedMost: 50 });
    const queue = freshQueue();
    await fill(backend, queue, 1000);
    await workOff(backend, queue);
    // One more end of a job clears what the last batch left over.
    const [last] = await put(backend, queue);
    await workOff(backend, queue);
    const key = (name: string): string => `${store.prefix}:{${queue}}:${name}`;
    expect(await store.client.zcard(key('done'))).toBeLessThanOrEqual(51);
    // Three fields a record: body, facts, errors.
    expect(await store.client.hlen(key('past'))).toBe(3 * (await store.client.zcard(key('done'))));
    expect(await backend.lookup?.find(queue, last?.id ?? randomUUID(), CALL)).toMatchObject({
      state: 'completed',
    });
  });

  test('is no record that is older than was asked for', async () => {
    const backend = await store.open({ keepCompletedMs: 50 });
    const queue = freshQueue();
    await fill(backend, queue, 100);
    await workOff(backend, queue);
    const done = `${store.prefix}:{${queue}}:done`;
    await eventually(async () => {
      const [job] = await put(backend, queue);
      const [lease] = await claim(backend, queue);
      if (lease === undefined || job === undefined) return false;
      expect(await statuses(backend, [completion(lease)])).toEqual(['settled']);
      return (await store.client.zcard(done)) < 10;
    });
  });

  test('is no dedupe key whose window is over', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    for (let n = 0; n < 100; n += 1) await put(backend, queue, 1, { dedupe: { key: `k${n}`, windowMs: 20 } });
    await workOff(backend, queue);
    const keys = `${store.prefix}:{${queue}}:dedupe`;
    await eventually(async () => {
      await put(backend, queue, 1, { dedupe: { key: `k-${randomUUID()}`, windowMs: 20 } });
      return (await store.client.hlen(keys)) < 10;
    });
    await workOff(backend, queue);
  });
});
