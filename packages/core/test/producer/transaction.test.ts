import { createClient, defineJob, type EnqueueOutcome, type NewJob, SuretyError } from '@surety/core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { caught } from './caught.ts';
import { accepted, hang, scriptedBackend } from './scripted-backend.ts';

const job = defineJob<unknown>('a');

type Facet = (tx: unknown, jobs: readonly NewJob[]) => Promise<readonly EnqueueOutcome[]>;

function transactional(enqueue: Facet = async (_tx, jobs) => jobs.map(accepted)) {
  const inside: { tx: unknown; payloads: string[] }[] = [];
  const scripted = scriptedBackend({
    capabilities: { transactional: true, batch: { maxItems: 2, maxBytes: 1e6 } },
    transactional: {
      enqueue(tx, jobs) {
        inside.push({ tx, payloads: jobs.map(({ payload }) => payload) });
        return enqueue(tx, jobs);
      },
    },
  });
  return { ...scripted, inside };
}

afterEach(() => vi.useRealTimers());

describe("enqueue in the caller's transaction (G1.4, B121)", () => {
  test('goes to the facet with the transaction, and nowhere else', async () => {
    const { backend, calls, inside } = transactional();
    await using client = createClient({ backend });
    const tx = {};
    expect((await client.enqueue(job, 1, { tx })).status).toBe('accepted');
    expect(inside).toEqual([{ tx, payloads: ['1'] }]);
    expect(inside[0]?.tx).toBe(tx);
    expect(calls).toEqual([]);
  });

  test('enqueueMany: every item into its own, the others outside, answers in order', async () => {
    const { backend, calls, inside } = transactional();
    await using client = createClient({ backend });
    const [one, two] = [{ name: 'one' }, { name: 'two' }];
    const txs = [one, undefined, two, one, undefined, one];
    const results = await client.enqueueMany(
      txs.map((tx, input) => ({ job, input, options: tx === undefined ? {} : { tx } })),
    );
    expect(results.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 'accepted'));
    expect(inside).toEqual([
      { tx: one, payloads: ['0', '3'] },
      { tx: one, payloads: ['5'] },
      { tx: two, payloads: ['2'] },
    ]);
    expect(calls.map(({ jobs }) => jobs.map(({ payload }) => payload))).toEqual([['1', '4']]);
  });

  test('null is no transaction, and no enqueue outside of one', async () => {
    const { backend, seen } = transactional();
    await using client = createClient({ backend });
    expect((await caught(() => client.enqueue(job, 1, { tx: null }))).code).toBe('OPTIONS_INVALID');
    expect(seen).toEqual([]);
  });

  test('what broke the transaction reaches its owner as it is', async () => {
    const broken = new SuretyError('BACKEND_OVERLOADED', 'Serialization failure.', {
      cause: new Error('40001'),
    });
    const { backend } = transactional(() => Promise.reject(broken));
    await using client = createClient({ backend });
    expect(await caught(() => client.enqueue(job, 1, { tx: {} }))).toBe(broken);
    const [result] = await client.enqueueMany([{ job, input: 1, options: { tx: {} } }]);
    expect(result).toMatchObject({ status: 'rejected', error: { code: 'BACKEND_OVERLOADED' } });
  });

  test('a transaction that hangs is bounded, and whether the job is in it is not known', async () => {
    vi.useFakeTimers();
    const { backend } = transactional(hang);
    const client = createClient({ backend, timeout: 1000 });
    const enqueuing = caught(() => client.enqueue(job, 1, { tx: {} }));
    const closing = client.close();
    await vi.advanceTimersByTimeAsync(1500);
    expect(await enqueuing).toMatchObject({ code: 'OUTCOME_UNKNOWN', jobId: expect.any(String) });
    await closing;
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a backend that states it and has no facet', async () => {
    const scripted = scriptedBackend({ capabilities: { transactional: true } });
    await using client = createClient({ backend: scripted.backend });
    expect((await caught(() => client.enqueue(job, 1, { tx: {} }))).code).toBe('ADAPTER_BROKE_CONTRACT');
    const [result] = await client.enqueueMany([{ job, input: 1, options: { tx: {} } }]);
    expect(result).toMatchObject({ status: 'rejected', error: { code: 'ADAPTER_BROKE_CONTRACT' } });
    expect(scripted.calls).toEqual([]);
  });
});
