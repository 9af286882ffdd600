import { ERROR_CODES, type ErrorCode, SuretyError } from '@surety/core';
import { describe, expect, test } from 'vitest';
import { asSuretyError, manyResultOf, resultOf } from '../../src/producer/enqueue-result.ts';
import { caught } from './caught.ts';

const id = '01890000-0000-7000-8000-000000000001';
const of = '01890000-0000-7000-8000-000000000002';
const CODES = Object.keys(ERROR_CODES) as ErrorCode[];
const count = (text: string, part: string): number => text.split(part).length - 1;

describe('what an outcome becomes', () => {
  test('accepted is the id, duplicate the id of the other', () => {
    expect(resultOf({ status: 'accepted', id })).toEqual({ status: 'accepted', id });
    expect(resultOf({ status: 'duplicate', id, of })).toEqual({ status: 'duplicate', id: of });
    expect(manyResultOf({ status: 'duplicate', id, of })).toEqual({ status: 'duplicate', id: of });
  });

  test.each(CODES)('rejected with %s: code kept, jobId set, not stored for certain', async (code) => {
    const cause = new Error('native');
    const error = new SuretyError(code, 'It happened.', { adapter: 'x', operation: 'enqueue', cause });
    const thrown = await caught(() => resultOf({ status: 'rejected', id, error }));
    expect(thrown).toMatchObject({ code, jobId: id, adapter: 'x', operation: 'enqueue', cause });
    expect(thrown.retryable).not.toBe('unknown');
    expect(thrown.remedy).toBe(ERROR_CODES[code].remedy);
    expect(thrown.message).toBe(error.message);
    expect(count(thrown.message, thrown.remedy)).toBe(1);
  });

  test.each(CODES)('unknown with %s: an uncertain code, the id to repeat it with', async (code) => {
    const error = new SuretyError(code, 'It happened.');
    const thrown = await caught(() => resultOf({ status: 'unknown', id, error }));
    const isUncertain = ERROR_CODES[code].family === 'uncertain';
    expect(thrown.code).toBe(isUncertain ? code : 'OUTCOME_UNKNOWN');
    expect(thrown).toMatchObject({ jobId: id, retryable: 'unknown', cause: error });
    expect(count(thrown.message, thrown.remedy)).toBe(1);
    expect(manyResultOf({ status: 'unknown', id, error })).toMatchObject({
      status: 'unknown',
      id,
      error: { jobId: id },
    });
  });

  test('an own remedy and an own retryable are kept', async () => {
    const error = new SuretyError('STORE_FULL', 'Disk full.', { remedy: 'Buy one.', retryable: 'no' });
    const thrown = await caught(() => resultOf({ status: 'rejected', id, error }));
    expect(thrown).toMatchObject({ message: 'Disk full. Buy one.', remedy: 'Buy one.', retryable: 'no' });
  });

  test('an error that is complete is handed on as it is', async () => {
    const error = new SuretyError('QUEUE_FULL', 'Full.', { jobId: id });
    expect(await caught(() => resultOf({ status: 'rejected', id, error }))).toBe(error);
  });

  test('one error shared by several items gets the id of each', async () => {
    const error = new SuretyError('BACKEND_UNAVAILABLE', 'Gone.');
    const ids = await Promise.all(
      [id, of].map(
        async (one) => (await caught(() => resultOf({ status: 'rejected', id: one, error }))).jobId,
      ),
    );
    expect(ids).toEqual([id, of]);
    expect(error.jobId).toBeNull();
  });

  test('an error of a copy with a code that this one does not know', async () => {
    const error = new SuretyError('FUTURE' as ErrorCode, 'It happened.');
    const thrown = await caught(() => resultOf({ status: 'rejected', id, error }));
    expect(thrown).toMatchObject({ code: 'FUTURE', message: 'It happened.', jobId: id });
  });

  test.each([
    ['an error', new Error('boom.'), 'boom'],
    ['a text', 'boom', 'boom'],
    ['undefined', undefined, 'undefined'],
    ['several lines', new Error(' a\n  b '), 'a b'],
    ['an error without text', new Error(''), 'no message'],
    [
      'what cannot be read',
      new Proxy({}, { has: () => JSON.parse('{') }),
      'a value that cannot be read was thrown',
    ],
  ])('thrown without a code: %s', (_what, thrown, said) => {
    const error = asSuretyError(thrown);
    expect(error.code).toBe('INTERNAL');
    expect(error.cause === thrown).toBe(true);
    expect(error.message).toBe(`An error without a code: ${said}. ${ERROR_CODES.INTERNAL.remedy}`);
  });
});
