import { createClient, defineJob, type JobOptions } from '@surety/core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { caught } from './caught.ts';
import { hang, scriptedBackend } from './scripted-backend.ts';

type Schema = NonNullable<JobOptions<unknown, unknown>['input']>;
type Result = Awaited<ReturnType<Schema['~standard']['validate']>>;

function schema(validate: (value: unknown) => Result | Promise<Result>): Schema {
  return { '~standard': { version: 1, vendor: 'test', validate } };
}
const issues = (...messages: string[]): Result => ({ issues: messages.map((message) => ({ message })) });

async function refusal(validate: (value: unknown) => Result | Promise<Result>) {
  const scripted = scriptedBackend();
  await using client = createClient({ backend: scripted.backend });
  const error = await caught(() => client.enqueue(defineJob('a', { input: schema(validate) }), { n: 1 }));
  expect(scripted.seen).toEqual([]);
  return error;
}

afterEach(() => vi.useRealTimers());

describe('the schema of a job (G7.4)', () => {
  test('the input is stored, not the output', async () => {
    const { backend, calls } = scriptedBackend();
    await using client = createClient({ backend });
    const doubled = schema((value) => ({ value: Number(value) * 2 }));
    await client.enqueue(defineJob('sync', { input: doubled }), 21);
    await client.enqueue(defineJob('async', { input: schema(async () => ({ value: 'other' })) }), 22);
    expect(calls.map(({ jobs }) => jobs[0]?.payload)).toEqual(['21', '22']);
  });

  test('the first three issues are told, with their paths', async () => {
    const error = await refusal(() => ({
      issues: [
        { message: 'Too long.', path: ['lines', 0, { key: 'sku' }] },
        { message: 'required', path: [Symbol('s')] },
        { message: 'x'.repeat(5000) },
        { message: 'fourth' },
      ],
    }));
    expect(error.code).toBe('PAYLOAD_INVALID');
    expect(error.message).toContain('schema: lines.0.sku: Too long; Symbol(s): required; xxx');
    expect(error.message).toContain('; and 1 more. Correct the input');
    expect(error.message.length).toBeLessThan(600);
  });

  test('an asynchronous one, and one that gives no reason', async () => {
    expect((await refusal(async () => issues('no'))).message).toContain('schema: no. Correct');
    expect((await refusal(() => issues())).message).toContain('it does not say why. Correct');
  });

  test('one that throws is an error with a code and the cause', async () => {
    const cause = new Error('the table is away.');
    const throwing = (): never => {
      throw cause;
    };
    for (const validate of [throwing, async () => throwing()]) {
      const error = await refusal(validate);
      expect(error).toMatchObject({ code: 'PAYLOAD_INVALID', cause });
      expect(error.message).toContain('threw: the table is away. Correct');
    }
  });

  test('one that never answers holds neither the enqueue nor the close', async () => {
    vi.useFakeTimers();
    const scripted = scriptedBackend();
    const client = createClient({ backend: scripted.backend, timeout: 1000 });
    const enqueuing = caught(() => client.enqueue(defineJob('a', { input: schema(hang) }), 1));
    const closing = client.close();
    await vi.advanceTimersByTimeAsync(1000);
    expect((await enqueuing).message).toContain('did not answer within the time limit');
    await closing;
    expect(scripted.calls).toEqual([]);
  });
});
