import { ERROR_CODES, isSuretyError, SuretyError } from '@surety/core';
import { describe, expect, test } from 'vitest';

describe('SuretyError', () => {
  test('what happened, then what to do, once', () => {
    const error = new SuretyError('QUEUE_FULL', 'The queue mail holds 5 jobs.');
    expect(error.message).toBe(`The queue mail holds 5 jobs. ${ERROR_CODES.QUEUE_FULL.remedy}`);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'SuretyError',
      code: 'QUEUE_FULL',
      retryable: 'yes',
      adapter: null,
      operation: null,
      jobId: null,
    });
    expect('cause' in error).toBe(false);
    expect(error.stack).toContain('surety-error.test.ts');
  });

  test('details win over the table; the native error is the cause', () => {
    const cause = new Error('ECONNRESET');
    const details = {
      adapter: 'a',
      operation: 'claim',
      jobId: 'j',
      cause,
      retryable: 'no',
      remedy: 'Do it.',
    } as const;
    const error = new SuretyError('INTERNAL', 'It broke.', details);
    expect(error).toMatchObject({ ...details, message: 'It broke. Do it.' });
    expect(new SuretyError('INTERNAL', 'It broke.', { remedy: '' }).message).toBe('It broke.');
  });

  test('as JSON: no stack, no insides of a cause', () => {
    const cause = Object.assign(new Error('secret'), { password: 'secret' });
    const error = new SuretyError('QUEUE_FULL', 'Full.', {
      adapter: 'a',
      operation: 'enqueue',
      jobId: 'j',
      cause,
    });
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'SuretyError',
      code: 'QUEUE_FULL',
      message: error.message,
      retryable: 'yes',
      adapter: 'a',
      operation: 'enqueue',
      jobId: 'j',
    });
  });
});

describe('isSuretyError', () => {
  test('knows the errors of another copy of the package, where instanceof does not', async () => {
    const url = new URL('../../src/errors/surety-error.ts?copy', import.meta.url);
    const copy = (await import(/* @vite-ignore */ url.href)) as { readonly SuretyError: typeof SuretyError };
    const error = new copy.SuretyError('QUEUE_FULL', 'Full.');
    expect(error).not.toBeInstanceOf(SuretyError);
    expect(isSuretyError(error)).toBe(true);
  });

  test.each([
    undefined,
    null,
    'QUEUE_FULL',
    new Error('x'),
    { code: 'QUEUE_FULL', name: 'SuretyError' },
    () => 1,
    Symbol('surety.error'),
  ])('is no such error: %s', (value) => {
    expect(isSuretyError(value)).toBe(false);
  });

  test('what cannot be read is none, and throws nothing', () => {
    const unreadable = new Proxy({}, { get: () => JSON.parse('{') });
    expect(isSuretyError(unreadable)).toBe(false);
  });
});
