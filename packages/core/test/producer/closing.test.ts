import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createClient, defineJob } from '@surety/core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { caught } from './caught.ts';
import { accepted, gate, hang, scriptedBackend } from './scripted-backend.ts';

const job = defineJob<unknown>('a');

afterEach(() => vi.useRealTimers());

describe('close', () => {
  test('waits for what is under way, then closes the backend, once', async () => {
    const answer = gate();
    const { backend, seen, calls } = scriptedBackend({
      enqueue: async (jobs) => {
        await answer.passed;
        return jobs.map(accepted);
      },
    });
    const client = createClient({ backend });
    const single = client.enqueue(job, 1);
    const many = client.enqueueMany([{ job, input: 2 }]);
    const closing = Promise.all([client.close(), client.close(), client[Symbol.asyncDispose]()]);
    await vi.waitFor(() => expect(calls).toHaveLength(2));
    expect(seen).not.toContain('close');
    expect((await caught(() => client.enqueue(job, 3))).code).toBe('BACKEND_CLOSED');
    expect((await caught(() => client.enqueueMany([]))).code).toBe('BACKEND_CLOSED');
    expect((await caught(() => client.start())).code).toBe('BACKEND_CLOSED');
    answer.open();
    await closing;
    expect((await single).status).toBe('accepted');
    expect((await many)[0]?.status).toBe('accepted');
    expect(seen.filter((verb) => verb === 'close')).toHaveLength(1);
    expect(seen.at(-1)).toBe('close');
  });

  test('a second close ends with the first, not before it', async () => {
    const closed = gate();
    const { backend, seen } = scriptedBackend({ close: () => closed.passed });
    const client = createClient({ backend });
    let ended = 0;
    const all = [client.close(), client.close()].map((closing) => closing.then(() => (ended += 1)));
    await vi.waitFor(() => expect(seen).toEqual(['close']));
    expect(ended).toBe(0);
    closed.open();
    await Promise.all(all);
  });

  test('is bounded when the backend hangs for ever, in enqueue and in close (B038)', async () => {
    vi.useFakeTimers();
    const { backend } = scriptedBackend({ enqueue: hang, close: hang });
    const client = createClient({ backend, timeout: 1000 });
    const enqueuing = caught(() => client.enqueue(job, 1));
    const closing = client.close().then(() => performance.now());
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await enqueuing).code).toBe('OUTCOME_UNKNOWN');
    expect(await closing).toBeLessThan(1000 + 5000 + 1000);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is bounded when the backend never opens, and a failing close fails nobody', async () => {
    vi.useFakeTimers();
    const { backend } = scriptedBackend({ open: hang, close: () => Promise.reject(new Error('EIO')) });
    const client = createClient({ backend, timeout: 1000 });
    const starting = caught(() => client.start());
    const closing = client.close();
    await vi.advanceTimersByTimeAsync(1500);
    expect((await starting).code).toBe('BACKEND_TIMEOUT');
    await closing;
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a process that has used a client exits by itself (B038)', () => {
  test.each([
    ['after an enqueue and a close', 'accepted'],
    ['while the store hangs', 'OUTCOME_UNKNOWN'],
    ['when the store never opened', 'BACKEND_TIMEOUT'],
  ])('%s', async (scene, expected) => {
    const child = fork(new URL('../programs/enqueue-and-close.ts', import.meta.url), [expected], {
      execArgv: ['--conditions=surety-source'],
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    // The channel is ours, not the client's: without it nothing else holds the child.
    child.channel?.unref();
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    const [code] = (await once(child, 'close')) as [number | null];
    expect([scene, code, output]).toEqual([scene, 0, `${expected}\n`]);
  });
});
