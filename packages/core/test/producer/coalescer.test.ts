import { createClient, defineJob, type EnqueueOutcome, type NewJob, SuretyError } from '@surety/core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { caught } from './caught.ts';
import { accepted, gate, hang, scriptedBackend } from './scripted-backend.ts';
import { seededRandom } from './seeded-random.ts';

const job = defineJob<unknown>('a');
const payloads = (jobs: readonly NewJob[]): string[] => jobs.map(({ payload }) => payload);
const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

afterEach(() => vi.useRealTimers());

describe('concurrent enqueues share calls', () => {
  test('a round is one call, in order; a lone one goes at once', async () => {
    const { backend, calls } = scriptedBackend();
    await using client = createClient({ backend });
    await client.enqueue(job, 0);
    await Promise.all(numbers(1, 100).map((n) => client.enqueue(job, n)));
    expect(calls.map(({ jobs }) => payloads(jobs))).toEqual([['0'], numbers(1, 100).map(String)]);
  });

  test('each gets the answer of its own item; a bad one fails no neighbour (G1.3)', async () => {
    const answer = (given: NewJob): EnqueueOutcome => {
      const { id } = given;
      const n = Number(given.payload) % 4;
      if (n === 0) return accepted(given);
      if (n === 1) return { status: 'duplicate', id, of: `of ${given.payload}` };
      const error = new SuretyError(
        n === 2 ? 'QUEUE_FULL' : 'DURABILITY_NOT_REACHED',
        `Item ${given.payload}.`,
      );
      return { status: n === 2 ? 'rejected' : 'unknown', id, error };
    };
    const { backend } = scriptedBackend({ enqueue: async (jobs) => jobs.map(answer) });
    await using client = createClient({ backend });
    const ends = await Promise.allSettled(numbers(0, 79).map((n) => client.enqueue(job, n)));
    for (const [n, end] of ends.entries()) {
      if (n % 4 === 0) expect(end).toMatchObject({ value: { status: 'accepted' } });
      if (n % 4 === 1) expect(end).toMatchObject({ value: { status: 'duplicate', id: `of ${n}` } });
      if (n % 4 === 2) expect(end).toMatchObject({ reason: { code: 'QUEUE_FULL' } });
      if (n % 4 === 3) expect(end).toMatchObject({ reason: { code: 'DURABILITY_NOT_REACHED' } });
      if (n % 4 > 1)
        expect(end).toMatchObject({ reason: { message: expect.stringContaining(`Item ${n}.`) } });
    }
  });

  test('bad input in the middle of a round is never sent', async () => {
    const { backend, calls } = scriptedBackend();
    await using client = createClient({ backend });
    const ends = await Promise.allSettled([1, 2n, 3].map((n) => client.enqueue(job, n)));
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(calls.map(({ jobs }) => payloads(jobs))).toEqual([['1', '3']]);
  });

  test('what comes while a call is under way goes as one batch behind it', async () => {
    const first = gate();
    const { backend, calls } = scriptedBackend({
      enqueue: async (jobs) => {
        if (payloads(jobs)[0] === '0') await first.passed;
        return jobs.map(accepted);
      },
    });
    await using client = createClient({ backend });
    await client.start();
    const all = [client.enqueue(job, 0)];
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    for (const n of numbers(1, 31)) {
      all.push(client.enqueue(job, n));
      await Promise.resolve();
    }
    expect(calls).toHaveLength(1);
    first.open();
    await Promise.all(all);
    expect(calls.map(({ jobs }) => jobs.length)).toEqual([1, 31]);
  });

  test('batches keep the limits of the backend: items, and bytes at the exact limit', async () => {
    const bytes = 512 + 10;
    const seen: number[] = [];
    for (const batch of [
      { maxItems: 7, maxBytes: 1_000_000 },
      { maxItems: 1000, maxBytes: 7 * bytes },
      { maxItems: 1000, maxBytes: 8 * bytes - 1 },
      { maxItems: 1000, maxBytes: 1 },
    ]) {
      const { backend, calls } = scriptedBackend({ capabilities: { batch } });
      await using client = createClient({ backend });
      await Promise.all(numbers(1, 21).map(() => client.enqueue(job, '✓'.repeat(2) + 'ab')));
      expect(calls.flatMap(({ jobs }) => jobs)).toHaveLength(21);
      seen.push(Math.max(...calls.map(({ jobs }) => jobs.length)), calls.length);
    }
    expect(seen).toEqual([7, 3, 7, 3, 7, 3, 1, 21]);
  });

  test('never more than two calls in flight, and what does not fit the first goes beside it', async () => {
    const gates = numbers(0, 9).map(() => gate());
    let call = 0;
    const scripted = scriptedBackend({
      capabilities: { batch: { maxItems: 10, maxBytes: 1_000_000 } },
      enqueue: async (jobs) => {
        await gates[call++]?.passed;
        return jobs.map(accepted);
      },
    });
    await using client = createClient({ backend: scripted.backend });
    const all = Promise.all(numbers(1, 100).map((n) => client.enqueue(job, n)));
    await vi.waitFor(() => expect(scripted.calls).toHaveLength(2));
    gates[1]?.open();
    await vi.waitFor(() => expect(scripted.calls).toHaveLength(3));
    for (const each of gates) each.open();
    await all;
    expect(scripted.mostInFlight).toBe(2);
    expect(scripted.calls.flatMap(({ jobs }) => payloads(jobs))).toEqual(numbers(1, 100).map(String));
  });

  describe('where no call waits for a disk', () => {
    const capabilities = { durability: 'process-crash' } as const;

    test.each([
      [1, [1]],
      [15, [15]],
      [16, [8, 8]],
      [33, [17, 16]],
    ])('%i go as %j, at the same time', async (count, sizes) => {
      const open = gate();
      const scripted = scriptedBackend({
        capabilities,
        enqueue: async (jobs) => {
          await open.passed;
          return jobs.map(accepted);
        },
      });
      await using client = createClient({ backend: scripted.backend });
      await client.start();
      const all = Promise.all(numbers(1, count).map((n) => client.enqueue(job, n)));
      await vi.waitFor(() => expect(scripted.calls).toHaveLength(sizes.length));
      open.open();
      await all;
      expect(scripted.calls.map(({ jobs }) => jobs.length)).toEqual(sizes);
      expect(scripted.calls.flatMap(({ jobs }) => payloads(jobs))).toEqual(numbers(1, count).map(String));
    });

    test('eight go beside a call that is under way, fewer behind it', async () => {
      const first = gate();
      const { backend, calls } = scriptedBackend({
        capabilities,
        enqueue: async (jobs) => {
          if (payloads(jobs)[0] === '0') await first.passed;
          return jobs.map(accepted);
        },
      });
      await using client = createClient({ backend });
      await client.start();
      const all = [client.enqueue(job, 0)];
      await vi.waitFor(() => expect(calls).toHaveLength(1));
      all.push(...numbers(1, 7).map((n) => client.enqueue(job, n)));
      await new Promise(setImmediate);
      expect(calls).toHaveLength(1);
      all.push(client.enqueue(job, 8));
      await vi.waitFor(() => expect(calls).toHaveLength(2));
      first.open();
      await Promise.all(all);
      expect(calls.map(({ jobs }) => jobs.length)).toEqual([1, 8]);
    });
  });

  test('a backend that answers at random times loses and mixes up nothing', async () => {
    const random = seededRandom(3);
    const scripted = scriptedBackend({
      capabilities: { batch: { maxItems: 16, maxBytes: 20_000 } },
      enqueue: async (jobs) => {
        for (let turns = Math.floor(random() * 4); turns > 0; turns -= 1) await new Promise(setImmediate);
        return jobs.map((given) => ({ status: 'duplicate', id: given.id, of: given.payload }));
      },
    });
    await using client = createClient({ backend: scripted.backend });
    const producers = numbers(1, 40).map(async (producer) => {
      for (let n = 0; n < 25; n += 1) {
        const text = `${producer}-${n}${'.'.repeat(Math.floor(random() * 2000))}`;
        expect((await client.enqueue(job, text)).id).toBe(JSON.stringify(text));
      }
    });
    await Promise.all(producers);
    expect(scripted.mostInFlight).toBeLessThanOrEqual(2);
    expect(scripted.calls.flatMap(({ jobs }) => jobs)).toHaveLength(1000);
  });
});

describe('an adapter that answers wrongly', () => {
  test.each<[string, (jobs: readonly NewJob[]) => unknown]>([
    ['nothing', () => undefined],
    ['an empty list', () => []],
    ['holes', (jobs) => jobs.map(() => null)],
    ['other ids', (jobs) => jobs.map(() => ({ status: 'accepted', id: 'other' }))],
    ['in another order', (jobs) => jobs.map(accepted).toReversed()],
    ['another status', (jobs) => jobs.map(({ id }) => ({ status: 'done', id }))],
  ])('%s: unknown, with the id, never accepted', async (_what, answer) => {
    const scripted = scriptedBackend({ enqueue: async (jobs) => answer(jobs) as EnqueueOutcome[] });
    await using client = createClient({ backend: scripted.backend });
    const errors = await Promise.all([1, 2].map((n) => caught(() => client.enqueue(job, n))));
    expect(errors.map(({ code }) => code)).toEqual(['OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN']);
    expect(errors.map(({ jobId }) => jobId)).toEqual(scripted.calls[0]?.jobs.map(({ id }) => id));
    expect(errors[0]?.cause).toMatchObject({ code: 'ADAPTER_BROKE_CONTRACT' });
  });

  test('it throws at once, without a promise', async () => {
    const scripted = scriptedBackend();
    const backend = {
      ...scripted.backend,
      enqueue: (): never => {
        throw new Error('at once');
      },
    };
    await using client = createClient({ backend });
    expect(await caught(() => client.enqueue(job, 1))).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      retryable: 'unknown',
    });
    expect(await caught(() => client.enqueue(job, 1))).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  });
});

describe('time limits (G1.2, B037)', () => {
  test('each enqueue ends within its own, whoever shares the call', async () => {
    vi.useFakeTimers();
    const { backend, calls } = scriptedBackend({ enqueue: hang });
    const client = createClient({ backend, timeout: 5000 });
    const ended: string[] = [];
    const all = [300, 5000, 1000].map(async (timeout) => {
      const error = await caught(() => client.enqueue(job, timeout, { timeout }));
      expect(error).toMatchObject({
        code: 'OUTCOME_UNKNOWN',
        retryable: 'unknown',
        jobId: expect.any(String),
      });
      ended.push(`${timeout} at ${Math.round(performance.now() / 100) / 10}`);
    });
    const startAt = performance.now();
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all(all);
    expect(startAt).toBeLessThan(100);
    // A short patience is no limit for the neighbours: the call has the longest.
    expect(calls.map(({ jobs, timeoutMs }) => [jobs.length, Math.round(timeoutMs)])).toEqual([[3, 5000]]);
    expect(ended).toEqual(['300 at 0.6', '1000 at 1.3', '5000 at 5.3']);
    await client.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('what waits behind calls that hang ends in time, and was certainly not sent', async () => {
    vi.useFakeTimers();
    const { backend, calls } = scriptedBackend({
      capabilities: { batch: { maxItems: 1, maxBytes: 1_000_000 } },
      enqueue: hang,
    });
    const client = createClient({ backend, timeout: 1000 });
    const ends = [1, 2, 3, 4].map((n) => caught(() => client.enqueue(job, n)));
    await vi.advanceTimersByTimeAsync(1300);
    expect((await Promise.all(ends)).map(({ code, retryable }) => `${code} ${retryable}`)).toEqual([
      'OUTCOME_UNKNOWN unknown',
      'OUTCOME_UNKNOWN unknown',
      'BACKEND_TIMEOUT yes',
      'BACKEND_TIMEOUT yes',
    ]);
    expect(calls).toHaveLength(2);
    const next = caught(() => client.enqueue(job, 5));
    await vi.advanceTimersByTimeAsync(1300);
    expect((await next).code).toBe('OUTCOME_UNKNOWN');
    expect(calls).toHaveLength(3);
    await client.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('an answer in time leaves no timer behind', async () => {
    vi.useFakeTimers();
    const { backend } = scriptedBackend();
    const client = createClient({ backend });
    await Promise.all([1, 2, 3].map((n) => client.enqueue(job, n)));
    expect(vi.getTimerCount()).toBe(0);
    await client.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a late answer changes nothing', async () => {
    vi.useFakeTimers();
    const late = gate();
    const { backend } = scriptedBackend({
      enqueue: async (jobs) => {
        await late.passed;
        return jobs.map(accepted);
      },
    });
    const client = createClient({ backend, timeout: 100 });
    const enqueuing = caught(() => client.enqueue(job, 1));
    await vi.advanceTimersByTimeAsync(400);
    expect((await enqueuing).code).toBe('OUTCOME_UNKNOWN');
    late.open();
    await client.close();
    expect((await caught(() => client.enqueue(job, 1))).code).toBe('BACKEND_CLOSED');
  });
});
