import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createClient, defineJob, SuretyError } from '@surety/core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { caught } from './caught.ts';
import { accepted, hang, type Script, scriptedBackend } from './scripted-backend.ts';

const job = defineJob<unknown>('a');
const away = (): SuretyError =>
  new SuretyError('BACKEND_UNAVAILABLE', 'Connection refused.', { adapter: 'scripted', operation: 'open' });

afterEach(() => vi.useRealTimers());

describe('an enqueue while the store is away ends in time and says whether the job may be stored (B037, G1.2)', () => {
  const cases: readonly (readonly [string, Script, string, string])[] = [
    ['never opened: refused', { open: () => Promise.reject(away()) }, 'BACKEND_UNAVAILABLE', 'yes'],
    ['never opened: hangs', { open: hang }, 'BACKEND_TIMEOUT', 'yes'],
    [
      'never opened: throws without a code',
      { open: () => Promise.reject(new Error('EPIPE')) },
      'INTERNAL',
      'yes',
    ],
    ['opened: refused', { enqueue: () => Promise.reject(away()) }, 'BACKEND_UNAVAILABLE', 'yes'],
    ['opened: hangs', { enqueue: hang }, 'OUTCOME_UNKNOWN', 'unknown'],
    [
      'opened: throws without a code',
      { enqueue: () => Promise.reject(new Error('EPIPE')) },
      'OUTCOME_UNKNOWN',
      'unknown',
    ],
    [
      'opened: throws undefined',
      { enqueue: () => Promise.reject(undefined as unknown as Error) },
      'OUTCOME_UNKNOWN',
      'unknown',
    ],
  ];

  test.each(cases)('%s', async (_what, script, code, retryable) => {
    vi.useFakeTimers();
    const scripted = scriptedBackend(script);
    const client = createClient({ backend: scripted.backend });
    const id = '01890000-0000-7000-8000-000000000001';
    const single = caught(() => client.enqueue(job, 1, { timeout: 1000, id }));
    await vi.advanceTimersByTimeAsync(1500);
    const error = await single;
    expect(error).toMatchObject({ code, retryable, jobId: id });
    expect(error.message.split(error.remedy)).toHaveLength(2);

    const many = client.enqueueMany([{ job, input: 1, options: { id, timeout: 1000 } }]);
    await vi.advanceTimersByTimeAsync(1500);
    const status = retryable === 'unknown' ? 'unknown' : 'rejected';
    expect(await many).toMatchObject([{ status, id, error: { code, retryable, jobId: id } }]);
    const closing = client.close();
    await vi.advanceTimersByTimeAsync(0);
    await closing;
    expect(vi.getTimerCount()).toBe(0);
  });

  test('when it is back, the next enqueue opens it', async () => {
    let isAway = true;
    const scripted = scriptedBackend({ open: () => (isAway ? Promise.reject(away()) : Promise.resolve()) });
    await using client = createClient({ backend: scripted.backend });
    expect((await caught(() => client.enqueue(job, 1))).code).toBe('BACKEND_UNAVAILABLE');
    expect((await caught(() => client.start())).code).toBe('BACKEND_UNAVAILABLE');
    isAway = false;
    expect((await client.enqueue(job, 1)).status).toBe('accepted');
    expect(scripted.seen).toEqual(['open', 'open', 'open', 'enqueue']);
  });

  test('repeating an unknown one with the id of its error is the same job', async () => {
    const stored = new Set<string>();
    let answers = false;
    const { backend } = scriptedBackend({
      async enqueue(jobs) {
        const outcomes = jobs.map((given) =>
          stored.has(given.id)
            ? ({ status: 'duplicate', id: given.id, of: given.id } as const)
            : accepted(given),
        );
        for (const { id } of jobs) stored.add(id);
        if (!answers) throw new Error('the answer was lost');
        return outcomes;
      },
    });
    await using client = createClient({ backend });
    const { jobId } = await caught(() => client.enqueue(job, 1));
    if (jobId === null) throw new Error('The error carries no id.');
    answers = true;
    expect(await client.enqueue(job, 1, { id: jobId })).toEqual({ status: 'duplicate', id: jobId });
    expect(stored.size).toBe(1);
  });
});

/** Without it the figure would be that of the garbage. */
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('100,000 enqueues of 1 KB against a store that is away (B108)', () => {
  test.each<[string, Script]>([
    ['never opened', { open: hang }],
    ['lost after it was opened', { enqueue: hang }],
  ])('%s: refused at once past the bound, memory bounded, nothing accepted', async (_what, script) => {
    const scripted = scriptedBackend(script);
    // The clock stands still while the burst lasts, however slow the machine is.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const client = createClient({ backend: scripted.backend });
    const counts = new Map<string, number>();
    const count = (code: string): void => void counts.set(code, (counts.get(code) ?? 0) + 1);
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let n = 0; n < 100_000; n += 1) {
      const text = String(n).padEnd(1000, 'x');
      void client.enqueue(job, text).then(
        () => count('accepted'),
        (error: SuretyError) => count(error.code),
      );
      if (n % 1000 === 999) await new Promise(setImmediate);
    }
    expect(Object.fromEntries(counts)).toEqual({ CLIENT_OVERLOADED: 90_000 });
    collectGarbage();
    const grown = process.memoryUsage().heapUsed - before;
    await vi.advanceTimersByTimeAsync(11_000);
    await client.close();
    expect(grown).toBeLessThan(50 * 1024 * 1024);
    // The ten thousand that are held are there to be counted: a figure near zero would have measured nothing.
    expect(grown).toBeGreaterThan(10_000 * 1000);
    expect(counts.get('accepted')).toBeUndefined();
    expect([...counts.values()].reduce((sum, one) => sum + one, 0)).toBe(100_000);
  });

  test('the bound counts bytes too', async () => {
    vi.useFakeTimers();
    const { backend } = scriptedBackend({ enqueue: hang });
    const client = createClient({ backend, timeout: 1000 });
    const text = 'x'.repeat(190_000);
    const ends = Array.from({ length: 400 }, () => caught(() => client.enqueue(job, text)));
    await vi.advanceTimersByTimeAsync(1500);
    const refused = (await Promise.all(ends)).filter(({ code }) => code === 'CLIENT_OVERLOADED');
    expect(refused).toHaveLength(400 - Math.floor((64 * 1024 * 1024) / (190_000 + 2 + 512)));
    // What has ended makes room again.
    const next = caught(() => client.enqueue(job, text));
    await vi.advanceTimersByTimeAsync(1500);
    expect((await next).code).toBe('OUTCOME_UNKNOWN');
  });
});
