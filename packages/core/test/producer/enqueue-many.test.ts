import {
  createClient,
  defineJob,
  type EnqueueItem,
  type EnqueueOutcome,
  type NewJob,
  SuretyError,
} from '@surety/core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { caught } from './caught.ts';
import { accepted, gate, hang, scriptedBackend } from './scripted-backend.ts';

const job = defineJob<unknown>('a');
const item = (input: unknown): EnqueueItem<never> => ({ job, input });
const statuses = (results: readonly { status: string }[]): string =>
  results.map(({ status }) => status[0]).join('');
const sizes = (calls: readonly { jobs: readonly unknown[] }[]): number[] =>
  calls.map(({ jobs }) => jobs.length);

afterEach(() => vi.useRealTimers());

describe('enqueueMany', () => {
  test('stores the rest and says which failed and why, in order (B005, B075, G1.3)', async () => {
    const { backend, calls } = scriptedBackend({
      enqueue: async (jobs) =>
        jobs.map((given, index): EnqueueOutcome => {
          const { id } = given;
          if (index === 1) return { status: 'rejected', id, error: new SuretyError('QUEUE_FULL', 'Full.') };
          if (index === 2)
            return { status: 'unknown', id, error: new SuretyError('BACKEND_TIMEOUT', 'Late.') };
          if (index === 3) return { status: 'duplicate', id, of: 'other' };
          return accepted(given);
        }),
    });
    await using client = createClient({ backend });
    const results = await client.enqueueMany([
      item(1n),
      item(1),
      item(2),
      item(new Map()),
      item(3),
      item(4),
      item(5),
    ]);
    expect(calls.map(({ jobs }) => jobs.map(({ payload }) => payload))).toEqual([['1', '2', '3', '4', '5']]);
    const ids = calls[0]?.jobs.map(({ id }) => id) ?? [];
    expect(results).toMatchObject([
      { status: 'rejected', id: null, error: { code: 'PAYLOAD_NOT_SUPPORTED' } },
      { status: 'accepted', id: ids[0] },
      { status: 'rejected', id: ids[1], error: { code: 'QUEUE_FULL', jobId: ids[1] } },
      { status: 'rejected', id: null, error: { code: 'PAYLOAD_NOT_SUPPORTED' } },
      {
        status: 'unknown',
        id: ids[2],
        error: { code: 'OUTCOME_UNKNOWN', jobId: ids[2], retryable: 'unknown' },
      },
      { status: 'duplicate', id: 'other' },
      { status: 'accepted', id: ids[4] },
    ]);
  });

  test('an empty list makes no call; what is no list is refused', async () => {
    const scripted = scriptedBackend();
    await using client = createClient({ backend: scripted.backend });
    expect(await client.enqueueMany([])).toEqual([]);
    for (const wrong of [undefined, null, 'x', new Set(), { 0: item(1), length: 1 }]) {
      const error = await caught(() => client.enqueueMany(wrong as unknown as []));
      expect(error.code).toBe('OPTIONS_INVALID');
    }
    expect(scripted.seen).toEqual([]);
  });

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['an item without a job', { input: 1 }],
    ['a misspelt key', { job, input: 1, option: { delay: 5 } }],
  ])('a bad item is refused alone: %s', async (_what, wrong) => {
    const { backend, calls } = scriptedBackend();
    await using client = createClient({ backend });
    const results = await client.enqueueMany([item(1), wrong as EnqueueItem<never>, item(2)]);
    expect(results).toMatchObject([
      { status: 'accepted' },
      { status: 'rejected', error: { code: 'OPTIONS_INVALID' } },
      { status: 'accepted' },
    ]);
    expect(sizes(calls)).toEqual([2]);
  });

  test('split by items at the exact limit (B072)', async () => {
    for (const [count, expected] of [
      [10, [10]],
      [11, [10, 1]],
      [37, [10, 10, 10, 7]],
    ] as const) {
      const { backend, calls } = scriptedBackend({
        capabilities: { batch: { maxItems: 10, maxBytes: 1e6 } },
      });
      await using client = createClient({ backend });
      const results = await client.enqueueMany(Array.from({ length: count }, (_, n) => item(n)));
      expect(sizes(calls)).toEqual(expected);
      expect(results.map((result) => result.id)).toEqual(
        calls.flatMap(({ jobs }) => jobs.map(({ id }) => id)),
      );
    }
  });

  test('made while the part before is on its way, one part ahead at most, and sent in order', async () => {
    const answered = gate();
    let made = 0;
    const { backend, calls } = scriptedBackend({
      capabilities: { batch: { maxItems: 2, maxBytes: 1e6 } },
      enqueue: async (jobs) => {
        await answered.passed;
        return jobs.map(accepted);
      },
    });
    await using client = createClient({ backend });
    const counted = (n: number): object => ({
      toJSON: () => {
        made += 1;
        return { n };
      },
    });
    const many = client.enqueueMany(
      Array.from({ length: 9 }, (_, n) => ({ ...item(n), input: counted(n) as never })),
    );
    // The fifth does not fit the second part, and waits with it for the first.
    await vi.waitFor(() => expect(made).toBe(5));
    expect(sizes(calls)).toEqual([2]);
    answered.open();
    expect(statuses(await many)).toBe('aaaaaaaaa');
    expect(calls.flatMap(({ jobs }) => jobs.map(({ payload }) => JSON.parse(payload).n))).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8,
    ]);
  });

  test('split by bytes at the exact limit, in UTF-8, with headers (B072)', async () => {
    const options = { headers: { h: '✓' }, dedupeKey: '✓' };
    // The flat rate of an envelope, the payload with its quotes, the headers as JSON, the key.
    const bytes = 512 + (3 * 100 + 2) + Buffer.byteLength('{"h":"✓"}') + 3;
    const items = Array.from({ length: 6 }, () => ({ job, input: '✓'.repeat(100), options }));
    for (const [maxBytes, expected] of [
      [3 * bytes, [3, 3]],
      [3 * bytes - 1, [2, 2, 2]],
      [bytes - 1, [1, 1, 1, 1, 1, 1]],
    ] as const) {
      const { backend, calls } = scriptedBackend({ capabilities: { batch: { maxItems: 100, maxBytes } } });
      await using client = createClient({ backend });
      await client.enqueueMany(items);
      expect(sizes(calls)).toEqual(expected);
    }
  });

  test('the oversized one alone is refused, before anything is sent (B072)', async () => {
    const { backend, calls } = scriptedBackend();
    await using client = createClient({ backend, maxPayloadBytes: 100 * 1024 });
    const results = await client.enqueueMany(
      Array.from({ length: 5 }, (_, n) => item('x'.repeat(n === 2 ? 100 * 1024 : 1000))),
    );
    expect(statuses(results)).toBe('aaraa');
    expect(results[2]).toMatchObject({ error: { code: 'PAYLOAD_TOO_LARGE' } });
    expect(sizes(calls)).toEqual([4]);
  });

  test('a part that fails does not take the others with it', async () => {
    let call = 0;
    const { backend } = scriptedBackend({
      capabilities: { batch: { maxItems: 2, maxBytes: 1e6 } },
      enqueue: async (jobs) => {
        call += 1;
        if (call === 2) throw new SuretyError('BACKEND_OVERLOADED', 'Deadlock.');
        return jobs.map(accepted);
      },
    });
    await using client = createClient({ backend });
    expect(statuses(await client.enqueueMany([1, 2, 3, 4, 5, 6].map(item)))).toBe('aarraa');
  });

  test('a store that goes away is not waited for once per part (G1.2)', async () => {
    vi.useFakeTimers();
    let call = 0;
    const { backend, calls } = scriptedBackend({
      capabilities: { batch: { maxItems: 2, maxBytes: 1e6 } },
      enqueue: (jobs) => (++call === 2 ? hang() : Promise.resolve(jobs.map(accepted))),
    });
    const client = createClient({ backend, timeout: 1000 });
    const many = client.enqueueMany(Array.from({ length: 10 }, (_, n) => item(n)));
    await vi.advanceTimersByTimeAsync(1500);
    const results = await many;
    expect(statuses(results)).toBe('aauurrrrrr');
    expect(results[9]).toMatchObject({ error: { code: 'BACKEND_UNAVAILABLE', retryable: 'yes' } });
    expect(results.every(({ id }) => id !== null)).toBe(true);
    expect(calls).toHaveLength(2);
    expect(statuses(await client.enqueueMany([item(1)]))).toBe('a');
    await client.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('the shortest time limit of its items is that of a call', async () => {
    const { backend, calls } = scriptedBackend();
    await using client = createClient({ backend, timeout: 5000 });
    await client.start();
    await client.enqueueMany([item(1), { job, input: 2, options: { timeout: 400 } }]);
    expect(calls[0]?.timeoutMs).toBeLessThanOrEqual(400);
  });

  test('one id twice: each item has its own answer', async () => {
    const seen = new Set<string>();
    const judge = (given: NewJob): EnqueueOutcome => {
      const { id } = given;
      if (seen.has(id)) return { status: 'duplicate', id, of: id };
      seen.add(id);
      return accepted(given);
    };
    const { backend } = scriptedBackend({ enqueue: async (jobs) => jobs.map(judge) });
    await using client = createClient({ backend });
    const options = { id: '01890000-0000-7000-8000-000000000001' };
    expect(statuses(await client.enqueueMany([1, 2].map((input) => ({ job, input, options }))))).toBe('ad');
  });
});
