import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, createWorker, defineJob, handle } from '@surety/core';
import type { Backend } from '@surety/core/contract';
import { openTrace, recordFinal, type TraceLine, traced } from '@surety/core/trace';
import { createMemoryStore, memory } from '@surety/memory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const CALL = { timeoutMs: 1000 };
const job = defineJob('mail.send', { retry: { maxAttempts: 2, base: '10ms' } });
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'surety-trace-'));
});
afterAll(() => rm(folder, { recursive: true }));

const fresh = (): string => join(folder, `${randomUUID()}.jsonl`);
const linesOf = (file: string): TraceLine[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text) as TraceLine);
const kindsOf = (file: string): string[] => linesOf(file).map(({ kind }) => kind);

describe('the option trace', () => {
  it('writes all that producer, worker and handler did, in order, with what each line needs', async () => {
    const backend = memory();
    const file = fresh();
    const client = createClient({ backend, trace: file });
    const { id } = await client.enqueue(job, {}, { delay: '20ms' });
    let starts = 0;
    const dead = Promise.withResolvers<void>();
    const worker = createWorker({
      backend,
      log: 'none',
      trace: file,
      onDead: () => dead.resolve(),
      handlers: [
        handle(job, (_, ctx) => {
          starts += 1;
          ctx.effect(`smtp ${starts}`);
          throw new Error('no');
        }),
      ],
    });
    await worker.start();
    await dead.promise;
    await worker.stop();
    await client.close();
    const lines = linesOf(file).filter(({ kind }) => kind !== 'open' && kind !== 'backend');
    const told = lines.filter((line) => JSON.stringify(line).includes(id));
    expect(told.map(({ kind }) => kind)).toEqual([
      'enqueue',
      'claimed',
      'start',
      'effect',
      'settle',
      'claimed',
      'start',
      'effect',
      'settle',
      'dead',
    ]);
    const [enqueue, claimed, start, effect, settle, , , , bury, end] = told;
    expect(enqueue).toMatchObject({ jobs: [{ id, queue: 'default', type: 'mail.send', delayMs: 20 }] });
    const lease = { id, attempt: 1, type: 'mail.send', fence: expect.any(Number), nonce: expect.any(String) };
    expect(claimed).toMatchObject({ leases: [lease] });
    const number = claimed?.kind === 'claimed' && 'leases' in claimed ? claimed.leases[0]?.lease : undefined;
    expect(start).toMatchObject({ lease: number });
    expect(effect).toMatchObject({ lease: number, name: 'smtp 1' });
    expect(settle).toMatchObject({ settlements: [{ lease: number, do: 'retry', code: 'HANDLER_FAILED' }] });
    expect(bury).toMatchObject({ settlements: [{ do: 'bury', code: 'HANDLER_FAILED' }] });
    expect(end).toMatchObject({ code: 'HANDLER_FAILED' });
    expect(lines).toContainEqual(expect.objectContaining({ kind: 'worker', limits: { 'mail.send': 2 } }));
    // Every answer follows its call, and numbers and times of one process only grow.
    for (const [index, line] of lines.entries()) {
      if (!('call' in line) || !/ed$|settled|redriven/.test(line.kind)) continue;
      expect(lines.slice(0, index).some((one) => 'call' in one && one.call === line.call)).toBe(true);
    }
    expect(new Set(lines.map(({ process }) => process)).size).toBe(1);
    const numbers = lines.map(({ seq }) => seq);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('costs nothing when it is left out: the backend is called as it is', async () => {
    const backend = memory();
    const seen: unknown[] = [];
    const spied: Backend = {
      ...backend,
      enqueue(this: unknown, jobs, options) {
        seen.push(this);
        return backend.enqueue(jobs, options);
      },
    };
    const client = createClient({ backend: spied });
    await client.enqueue(job, {});
    await client.close();
    expect(seen).toEqual([spied]);
  });

  it('shares one session of the backend with those who have no trace', async () => {
    const store = createMemoryStore({});
    const backend = memory({ store });
    const plain = createClient({ backend });
    const tracing = createClient({ backend, trace: fresh() });
    await tracing.enqueue(job, {});
    await tracing.close();
    expect((await plain.enqueue(job, {})).status).toBe('accepted');
    await plain.close();
  });

  it('uses an opened trace and leaves it open', async () => {
    const file = fresh();
    const trace = openTrace(file);
    const client = createClient({ backend: memory(), trace });
    await client.enqueue(job, {});
    await client.close();
    trace.fault('kill-worker', { jobs: ['a'] });
    trace.close();
    trace.close();
    expect(kindsOf(file)).toEqual(['open', 'backend', 'enqueue', 'enqueued', 'fault', 'close']);
  });

  it.each([[''], [5], [{}], [null]])('refuses %j', (trace) => {
    const options = { backend: memory(), trace } as unknown as Parameters<typeof createClient>[0];
    expect(() => createClient(options)).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
  });

  it('refuses a file that cannot be opened', () => {
    const file = join(folder, 'no', 'such', 'folder.jsonl');
    expect(() => createClient({ backend: memory(), trace: file })).toThrow(/cannot be opened/);
    expect(existsSync(file)).toBe(false);
  });
});

describe('traced', () => {
  it('has the line of a call in the file before the call reaches the store', async () => {
    const file = fresh();
    const inner = memory();
    const seen: string[][] = [];
    const watched: Backend = {
      ...inner,
      enqueue: (jobs, options) => {
        seen.push(kindsOf(file));
        return inner.enqueue(jobs, options);
      },
      claim: (request) => {
        seen.push(kindsOf(file));
        return inner.claim(request);
      },
    };
    const trace = openTrace(file);
    const backend = traced(watched, trace);
    await backend.open({ ...CALL, notify: () => undefined });
    await backend.enqueue([], CALL);
    await claim(backend);
    trace.close();
    expect(seen.map((kinds) => kinds.at(-1))).toEqual(['enqueue', 'claim']);
    // The answer that waited went out with the next call.
    expect(seen[1]).toContain('enqueued');
  });

  it('tells of calls that failed whether anything can have been done', async () => {
    const store = createMemoryStore({});
    const file = fresh();
    const trace = openTrace(file);
    const backend = traced(memory({ store }), trace);
    await backend.open({ ...CALL, notify: () => undefined });
    store.faults.failNext('claim', Object.assign(new Error('lost'), {}));
    await expect(claim(backend)).rejects.toThrow('lost');
    store.faults.refuse('refused');
    await backend.enqueue([], CALL).catch(() => []);
    trace.close();
    expect(linesOf(file)).toContainEqual(
      expect.objectContaining({ kind: 'claimed', error: { code: 'lost', retryable: 'unknown' } }),
    );
  });

  it('refuses the call when the trace cannot be written', async () => {
    const trace = openTrace(fresh());
    const inner = memory();
    const backend = traced(inner, trace);
    await backend.open({ ...CALL, notify: () => undefined });
    trace.close();
    await expect(claim(backend)).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE', retryable: 'yes' });
  });

  it('records what the store holds at the end', async () => {
    const file = fresh();
    const trace = openTrace(file);
    const backend = memory();
    const client = createClient({ backend, trace });
    const { id } = await client.enqueue(job, {}, { delay: '1h' });
    const gone = randomUUID();
    const state = await recordFinal(trace, backend, { queues: ['default'], ids: [id, gone] });
    trace.close();
    await client.close();
    expect(state).toMatchObject({ dead: 0, waiting: 1 });
    const found = { kind: 'found', jobs: [{ id, state: 'scheduled' }], absent: [gone] };
    expect(linesOf(file)).toContainEqual(expect.objectContaining(found));
    const final = {
      kind: 'final',
      queue: 'default',
      ready: 0,
      scheduled: 1,
      leased: 0,
      dead: 0,
      deadListed: true,
    };
    expect(linesOf(file).at(-2)).toMatchObject(final);
  });
});

function claim(backend: Backend): ReturnType<Backend['claim']> {
  const request = { queue: 'default', max: 1, leaseMs: 1000, waitMs: 0, nonce: randomUUID(), signal: null };
  return backend.claim({ ...request, ...CALL });
}
