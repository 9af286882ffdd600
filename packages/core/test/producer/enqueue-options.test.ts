import {
  type AnyEnqueueOptions,
  type Client,
  createClient,
  defineJob,
  ENVELOPE_BYTES,
  MAX_DELAY_MS,
  type NewJob,
} from '@surety/core';
import { memory } from '@surety/memory';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { caught } from './caught.ts';
import { type ScriptedBackend, scriptedBackend } from './scripted-backend.ts';

const job = defineJob<unknown>('mail.send', { queue: 'mail' });
const ID = '01890000-0000-7000-8000-000000000001';
const HOUR = 3_600_000;

let scripted: ScriptedBackend;
let client: Client;

beforeEach(() => {
  scripted = scriptedBackend();
  client = createClient({ backend: scripted.backend });
});
afterEach(() => vi.useRealTimers());

/** What the backend was given. */
async function sent(options: AnyEnqueueOptions, input: unknown = 1): Promise<NewJob> {
  await client.enqueue(job, input, options);
  const stored = scripted.calls.at(-1)?.jobs[0];
  if (stored === undefined) throw new Error('Nothing was sent.');
  return stored;
}

/** The options as somebody without types would give them. */
const untyped = (options: unknown): AnyEnqueueOptions => options as AnyEnqueueOptions;

const BAD: readonly (readonly [what: string, options: unknown])[] = [
  ['options that are null', null],
  ['options that are a text', 'now'],
  ['options that are an array', []],
  ['options that are a Map', new Map([['delay', 5]])],
  ['an unknown option', { delya: 5 }],
  ['an unknown option that every object inherits', { toString: 1 }],
  ['an id that is no UUID', { id: 'order-1' }],
  ['an id in upper case', { id: ID.toUpperCase().replace('1', 'A') }],
  ['an id with a line end', { id: `${ID}\n` }],
  ['an id that is null', { id: null }],
  ['a queue that is null', { queue: null }],
  ['a queue in upper case', { queue: 'Mail' }],
  ['a queue of 41 characters', { queue: 'q'.repeat(41) }],
  ['a queue with a line end', { queue: 'mail\n' }],
  ['an empty queue', { queue: '' }],
  ...bad(
    'delay',
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    MAX_DELAY_MS + 1,
    '367d',
    '5',
    '-1s',
    'soon',
    null,
    {},
  ),
  ['a delay and an instant', { delay: 1, runAt: new Date() }],
  ...bad(
    'runAt',
    new Date(Number.NaN),
    Date.now(),
    '2030-01-01',
    null,
    new Date(Date.now() + 2 * MAX_DELAY_MS),
  ),
  ...bad('expiresAt', new Date(Number.NaN), Date.now(), '2030-01-01', null, Number.POSITIVE_INFINITY),
  ...bad('priority', -1, 4, 0.5, Number.NaN, '1', null),
  ...bad('maxAttempts', 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1_000_001, '3', null),
  ...bad('timeout', 0, -1, Number.NaN, Number.POSITIVE_INFINITY, HOUR + 1, null),
  ...bad('dedupeKey', '', 5, null, 'a\u0000', '\ud800', 'k'.repeat(257)),
  ...bad('idempotencyKey', '', 5, null, 'a\u0000', '\ud800', 'k'.repeat(257)),
  ['a window without a key', { dedupeWindow: '1h' }],
  ...[0, -1, Number.NaN, Number.POSITIVE_INFINITY, MAX_DELAY_MS + 1, null].map(
    (dedupeWindow) => [`a window of ${String(dedupeWindow)}`, { dedupeKey: 'k', dedupeWindow }] as const,
  ),
  ...bad(
    'headers',
    null,
    'a=b',
    [],
    new Map([['a', 'b']]),
    new Headers({ a: 'b' }),
    { a: 1 },
    { a: undefined },
  ),
  ['a header with a lone surrogate', { headers: { a: '\udfff' } }],
  ['a header name with a lone surrogate', { headers: { '\udfff': 'a' } }],
];

function bad(option: string, ...values: unknown[]): (readonly [string, unknown])[] {
  return values.map((value) => [`${option} ${String(value).slice(0, 30)}`, { [option]: value }] as const);
}

describe('refused with OPTIONS_INVALID before anything reaches the backend (G7.4, B011)', () => {
  test.each(BAD)('%s', async (_what, options) => {
    const error = await caught(() => client.enqueue(job, 1, untyped(options)));
    expect(error.code).toBe('OPTIONS_INVALID');
    expect(error.message.endsWith(error.remedy)).toBe(true);
    const [result] = await client.enqueueMany([{ job, input: 1, options: untyped(options) }]);
    expect(result).toMatchObject({ status: 'rejected', error: { code: 'OPTIONS_INVALID' } });
    expect(scripted.seen).toEqual([]);
  });

  test('an unknown option is named, and the known ones are', async () => {
    const error = await caught(() => client.enqueue(job, 1, untyped({ delya: 5 })));
    expect(error.message).toContain('"delya"');
    expect(error.remedy).toContain('delay, runAt');
  });
});

describe('what the backend is given', () => {
  test('without options: defaults, the id as idempotency key', async () => {
    const stored = await sent({});
    expect(stored).toEqual({
      id: stored.id,
      queue: 'mail',
      type: 'mail.send',
      payload: '1',
      headers: {},
      idempotencyKey: stored.id,
      delayMs: 0,
      expiresInMs: null,
      priority: 1,
      dedupe: null,
      maxAttempts: null,
      maxDepth: null,
    });
    expect(stored.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });

  test('an option that is undefined counts as left out', async () => {
    const all = [
      'id',
      'queue',
      'delay',
      'runAt',
      'priority',
      'dedupeKey',
      'headers',
      'expiresAt',
      'timeout',
      'tx',
    ];
    const stored = await sent(untyped(Object.fromEntries(all.map((name) => [name, undefined]))));
    expect(stored).toMatchObject({ queue: 'mail', delayMs: 0, dedupe: null });
  });

  test('every option at its limit', async () => {
    const key = '✓'.repeat(256);
    const stored = await sent({
      id: ID,
      queue: 'a'.repeat(40),
      delay: MAX_DELAY_MS,
      priority: 3,
      dedupeKey: key,
      dedupeWindow: '366d',
      idempotencyKey: key,
      maxAttempts: 1_000_000,
      headers: { 'x-ключ': 'значение\u0000' },
      timeout: HOUR,
    });
    expect(stored).toMatchObject({
      id: ID,
      queue: 'a'.repeat(40),
      delayMs: MAX_DELAY_MS,
      priority: 3,
      dedupe: { key, windowMs: MAX_DELAY_MS },
      idempotencyKey: key,
      maxAttempts: 1_000_000,
      headers: { 'x-ключ': 'значение\u0000' },
    });
  });

  test('instants become durations; the past is now, an expiry in the past has none left', async () => {
    vi.useFakeTimers({ now: 1_700_000_000_000, toFake: ['Date'] });
    const at = (ms: number): Date => new Date(Date.now() + ms);
    expect(await sent({ runAt: at(5000), expiresAt: at(HOUR) })).toMatchObject({
      delayMs: 5000,
      expiresInMs: HOUR,
    });
    const past = await sent({ runAt: at(-5000), expiresAt: at(-1) });
    expect([past.delayMs, past.expiresInMs]).toEqual([0, 0]);
  });

  test('durations are whole, and zero has no sign', async () => {
    expect((await sent({ delay: 0.2 })).delayMs).toBe(1);
    expect(Object.is((await sent({ delay: -0 })).delayMs, 0)).toBe(true);
    expect(Object.is((await sent({ priority: -0 })).priority, 0)).toBe(true);
    expect((await sent({ delay: '1.5s' })).delayMs).toBe(1500);
  });

  test('headers are copied: a later change does not reach the job', async () => {
    const headers = { a: '1' };
    const stored = await sent({ headers });
    headers.a = '2';
    expect(stored.headers).toEqual({ a: '1' });
  });
});

describe('sizes in UTF-8, at the limit and one byte above (G7.2)', () => {
  const LIMIT = 2000;
  const free = LIMIT - ENVELOPE_BYTES;

  async function fits(input: unknown, options: AnyEnqueueOptions = {}): Promise<boolean> {
    const limited = scriptedBackend();
    await using small = createClient({ backend: limited.backend, maxPayloadBytes: LIMIT });
    try {
      await small.enqueue(job, input, options);
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
      expect(limited.seen).toEqual([]);
      return false;
    }
  }

  test.each([
    ['one byte', 'a', 1],
    ['two bytes', 'ж', 2],
    ['three bytes', '✓', 3],
    ['four bytes', '😀', 4],
  ])('characters of %s', async (_what, character, bytes) => {
    const room = free - 2;
    const text = character.repeat(Math.floor(room / bytes)) + 'a'.repeat(room % bytes);
    expect(await fits(text)).toBe(true);
    expect(await fits(`${text}a`)).toBe(false);
  });

  test('headers and keys count', async () => {
    const headers = { h: '✓'.repeat(20) };
    const headerBytes = Buffer.byteLength(JSON.stringify(headers));
    const dedupeKey = '✓'.repeat(256);
    const idempotencyKey = 'ж'.repeat(256);
    const room = free - 2;
    const cases: [number, AnyEnqueueOptions][] = [
      [headerBytes, { headers }],
      [768, { dedupeKey }],
      [512, { idempotencyKey }],
    ];
    for (const [taken, options] of cases) {
      expect(await fits('a'.repeat(room - taken), options)).toBe(true);
      expect(await fits('a'.repeat(room - taken + 1), options)).toBe(false);
    }
  });

  test('headers have a limit of their own', async () => {
    expect((await sent({ headers: { h: '✓'.repeat(2730), i: '' } })).headers['h']).toHaveLength(2730);
    const error = await caught(() => client.enqueue(job, 1, { headers: { h: '✓'.repeat(2731) } }));
    expect(error.code).toBe('LIMIT_EXCEEDED');
  });

  test('200 KiB when nothing is set', async () => {
    const text = 'x'.repeat(200 * 1024 - ENVELOPE_BYTES - 2);
    await sent({}, text);
    expect((await caught(() => client.enqueue(job, `${text}x`))).code).toBe('PAYLOAD_TOO_LARGE');
  });
});

describe('what a backend lacks is refused, not ignored', () => {
  test.each([
    ['priority', { priority: 0 }],
    ['dedupeKey', { dedupeKey: 'k' }],
    ['tx', { tx: {} }],
  ])('%s', async (_what, options) => {
    const weak = scriptedBackend({ capabilities: memory({ profile: 'weak' }).capabilities });
    await using poor = createClient({ backend: weak.backend });
    expect((await caught(() => poor.enqueue(job, 1, options))).code).toBe('CAPABILITY_MISSING');
    expect(weak.seen).toEqual([]);
    await poor.enqueue(job, 1);
    expect(weak.calls[0]?.jobs[0]).toMatchObject({ priority: 0, dedupe: null });
  });

  test('a delay and a window beyond the capability', async () => {
    const short = scriptedBackend({
      capabilities: {
        delay: { maxMs: 1000, granularityMs: 1 },
        dedupe: { maxWindowMs: 5000 },
        priority: { levels: 1 },
      },
    });
    await using poor = createClient({ backend: short.backend });
    for (const options of [
      { delay: 1001 },
      { dedupeKey: 'k' },
      { dedupeKey: 'k', dedupeWindow: 5001 },
      { priority: 1 },
    ]) {
      expect((await caught(() => poor.enqueue(job, 1, options))).code).toBe('OPTIONS_INVALID');
    }
    await poor.enqueue(job, 1, { delay: 1000, dedupeKey: 'k', dedupeWindow: 5000 });
    expect(short.calls[0]?.jobs[0]).toMatchObject({ delayMs: 1000, priority: 0 });
    expect(short.calls).toHaveLength(1);
  });

  test('the types refuse it too', () => {
    const weak = createClient({ backend: memory({ profile: 'weak' }) });
    const strong = createClient({ backend: memory() });
    const refusedByTypes = (): unknown => [
      // @ts-expect-error the profile has no priority
      weak.enqueue(job, 1, { priority: 1 }),
      // @ts-expect-error the profile has no dedupe
      weak.enqueue(job, 1, { dedupeKey: 'k' }),
      // @ts-expect-error no transactions in memory
      strong.enqueue(job, 1, { tx: {} }),
      // @ts-expect-error a misspelt option
      strong.enqueue(job, 1, { delya: 1 }),
      // @ts-expect-error the input of the definition
      strong.enqueue(defineJob<{ n: number }>('n'), { n: 'x' }),
      strong.enqueue(job, 1, { priority: 1, dedupeKey: 'k' }),
    ];
    expect(refusedByTypes).toBeTypeOf('function');
  });
});
