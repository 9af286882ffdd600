import { defineJob, handle, handleFenced, type JobOptions } from '@surety/core';
import { describe, expect, test } from 'vitest';
import { caught } from '../producer/caught.ts';

const untyped = (options: unknown): JobOptions<unknown, unknown> => options as JobOptions<unknown, unknown>;
const schema = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as const;
const run = (): void => undefined;

describe('defineJob', () => {
  test('its defaults, frozen', () => {
    const job = defineJob('receipt.send');
    expect(job).toEqual({
      type: 'receipt.send',
      queue: 'default',
      input: null,
      retry: { maxAttempts: 8, baseMs: 2000, capMs: 3_600_000 },
      timeoutMs: 300_000,
    });
    expect([Object.isFrozen(job), Object.isFrozen(job.retry)]).toEqual([true, true]);
  });

  test('everything at its limits', () => {
    const low = { maxAttempts: 1, base: 0, cap: 0 };
    const high = { maxAttempts: 1_000_000, base: '30d', cap: '30d' } as const;
    expect(defineJob('a', { retry: low, timeout: 1 })).toMatchObject({
      retry: { maxAttempts: 1 },
      timeoutMs: 1,
    });
    expect(defineJob('a'.repeat(128), { queue: '0_-', retry: high, timeout: '366d' }).retry.capMs).toBe(
      2_592_000_000,
    );
    expect(defineJob('A:b.c_d-9', { input: schema }).input).toBe(schema);
    // Some libraries make their schemas functions.
    expect(defineJob('a', { input: Object.assign(() => 1, schema) }).input).toBeTypeOf('function');
  });

  test.each(['', 'a b', 'é', 'a/b', 'a'.repeat(129), 'a\n', undefined, null, 5, {}])(
    'type %j',
    async (type) => {
      const error = await caught(() => defineJob(type as string));
      expect(error.code).toBe('OPTIONS_INVALID');
      expect(error.remedy).toContain('1 to 128');
    },
  );

  test.each(['', 'Mail', '-a', '_a', 'a b', 'a'.repeat(41), 'mail\n', 5, {}])('queue %j', async (queue) => {
    const error = await caught(() => defineJob('a', untyped({ queue })));
    expect(error.code).toBe('OPTIONS_INVALID');
    expect(error.remedy).toContain('1 to 40');
  });

  test.each([
    null,
    'x',
    [],
    new Map(),
    { retries: 5 },
    { input: null },
    { input: {} },
    { input: (value: unknown) => value },
    { input: { '~standard': {} } },
    { retry: 5 },
    { retry: { attempts: 5 } },
    ...[0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1_000_001, '5'].map((maxAttempts) => ({
      retry: { maxAttempts },
    })),
    ...[-1, Number.NaN, Number.POSITIVE_INFINITY, '31d', 'x'].flatMap((bad) => [
      { retry: { base: bad } },
      { retry: { cap: bad } },
    ]),
    ...[0, -1, Number.NaN, Number.POSITIVE_INFINITY, '367d', 'never', null].flatMap((timeout) =>
      timeout === null ? [] : [{ timeout }],
    ),
  ])('options %o (B011, G7.1)', async (options) => {
    expect((await caught(() => defineJob('a', untyped(options)))).code).toBe('OPTIONS_INVALID');
  });
});

describe('handle', () => {
  test('binds a function to a definition', () => {
    const definition = defineJob('a');
    expect(handle(definition, run)).toEqual({ definition, run, fenced: false });
    expect(handleFenced(definition, run)).toEqual({ definition, run, fenced: true });
    expect(Object.isFrozen(handle(definition, run))).toBe(true);
  });

  test.each([undefined, null, 'a', {}, { ...defineJob('a'), type: '' }, [], handle(defineJob('a'), run)])(
    'what is no definition: %o',
    async (definition) => {
      expect((await caught(() => handle(definition as never, run))).code).toBe('OPTIONS_INVALID');
    },
  );

  test.each([undefined, null, {}, 'run'])('what is no function: %o', async (wrong) => {
    expect((await caught(() => handle(defineJob('a'), wrong as never))).code).toBe('OPTIONS_INVALID');
  });
});
