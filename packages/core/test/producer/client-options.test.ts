import { type ClientOptions, createClient, defineJob, type JobDefinition } from '@surety/core';
import { describe, expect, test } from 'vitest';
import { caught } from './caught.ts';
import { scriptedBackend } from './scripted-backend.ts';

const untyped = (options: unknown): ClientOptions<never> => options as ClientOptions<never>;

describe('createClient refuses at once', () => {
  const { backend } = scriptedBackend();

  test.each([
    ['nothing', undefined],
    ['a backend in place of options', backend],
    ['no backend', {}],
    ['a backend that is none', { backend: { capabilities: {} } }],
    ['an unknown option', { backend, depth: {} }],
    ['a timeout of 0', { backend, timeout: 0 }],
    ['a timeout above an hour', { backend, timeout: '61m' }],
    ['a payload limit below 1 KiB', { backend, maxPayloadBytes: 1023 }],
    ['a payload limit that is NaN', { backend, maxPayloadBytes: Number.NaN }],
    ['no room for anything', { backend, maxPending: 0 }],
    ['a depth that is a number', { backend, maxDepth: 5 }],
    ['a depth that is a Map', { backend, maxDepth: new Map([['q', 5]]) }],
    ['a depth of 0', { backend, maxDepth: { q: 0 } }],
    ['a depth of a bad queue', { backend, maxDepth: { Q: 1 } }],
    ['a requirement that does not exist', { backend, requires: { speed: 1 } }],
  ])('%s', async (_what, options) => {
    expect((await caught(() => createClient(untyped(options)))).code).toBe('OPTIONS_INVALID');
  });

  test("a payload limit above the backend's, at it and one above (G7.2)", async () => {
    const small = scriptedBackend({ capabilities: { payload: { maxBytes: 300_000 } } }).backend;
    createClient({ backend: small, maxPayloadBytes: 300_000 });
    const error = await caught(() => createClient({ backend: small, maxPayloadBytes: 300_001 }));
    expect(error).toMatchObject({ code: 'LIMIT_EXCEEDED', adapter: 'scripted' });
  });

  test('a maximum depth on a backend without it; none is no requirement (G7.3)', async () => {
    const weak = scriptedBackend({ capabilities: { maxDepth: 'none' } }).backend;
    createClient({ backend: weak, maxDepth: {} });
    const error = await caught(() => createClient({ backend: weak, maxDepth: { q: 5 } }));
    expect(error.code).toBe('CAPABILITY_MISSING');
  });

  test('another version of the contract', async () => {
    const { backend: other } = scriptedBackend({ contractVersion: 2 });
    expect((await caught(() => createClient({ backend: other }))).code).toBe('CONTRACT_VERSION_UNSUPPORTED');
  });
});

describe('depths and definitions', () => {
  test('a depth is for its own queue only, whatever the name of another', async () => {
    const { backend, calls } = scriptedBackend();
    await using client = createClient({ backend, maxDepth: { mail: 7 } });
    for (const queue of ['mail', 'other', 'constructor']) {
      await client.enqueue(defineJob<unknown>(queue, { queue }), 1);
    }
    expect(calls.map(({ jobs }) => jobs[0]?.maxDepth)).toEqual([7, null, null]);
  });

  test('one definition per type; the same one as often as wanted', async () => {
    const { backend, calls } = scriptedBackend();
    await using client = createClient({ backend });
    const first = defineJob<unknown>('same');
    await client.enqueue(first, 1);
    await client.enqueue(first, 2);
    expect((await caught(() => client.enqueue(defineJob<unknown>('same'), 3))).code).toBe(
      'JOB_DEFINED_TWICE',
    );
    const [one, two] = await client.enqueueMany([
      { job: first, input: 4 },
      { job: defineJob('same'), input: 5 },
    ]);
    expect(one?.status).toBe('accepted');
    expect(two).toMatchObject({ status: 'rejected', error: { code: 'JOB_DEFINED_TWICE' } });
    expect(calls.map(({ jobs }) => jobs.length)).toEqual([1, 1, 1]);
  });

  test.each([
    ['nothing', undefined],
    ['a type', 'mail.send'],
    ['an empty object', {}],
    ['a bad type', { ...defineJob('a'), type: 'a b' }],
    ['a bad queue', { ...defineJob('a'), queue: 'A' }],
    ['a schema that is none', { ...defineJob('a'), input: {} }],
    ['no timeout', { type: 'a', queue: 'q', input: null, retry: {} }],
  ])('what is no definition is refused: %s', async (_what, definition) => {
    const scripted = scriptedBackend();
    await using client = createClient({ backend: scripted.backend });
    const job = definition as JobDefinition<unknown>;
    expect((await caught(() => client.enqueue(job, 1))).code).toBe('OPTIONS_INVALID');
    const [result] = await client.enqueueMany([{ job, input: 1 }]);
    expect(result).toMatchObject({ status: 'rejected', id: null, error: { code: 'OPTIONS_INVALID' } });
    expect(scripted.seen).toEqual([]);
  });
});
