import { ERROR_CODES } from '@surety/core/errors';
import { describe, expect, test } from 'vitest';
import {
  codeOf,
  fromNative,
  isDataError,
  isRolledBack,
  keepsSession,
  mayHaveCommitted,
} from '../src/native-errors.ts';

const answer = (code: string, severity = 'ERROR'): Error =>
  Object.assign(new Error('said the server'), { code, severity });
const network = (code: string): Error => Object.assign(new Error('from node'), { code });

describe('native errors', () => {
  test('the message tells a wrong port from a wrong name, and holds none of the words of others', () => {
    expect(fromNative(network('ECONNREFUSED'), 'open').message).toContain('failed: ECONNREFUSED.');
    expect(fromNative(network('ENOTFOUND'), 'open').message).toContain('failed: ENOTFOUND.');
    expect(fromNative(new Error('password hunter2'), 'open').message).not.toContain('hunter2');
  });

  test.each([
    ['08006', 'BACKEND_UNAVAILABLE'],
    ['57P01', 'BACKEND_UNAVAILABLE'],
    ['57P03', 'BACKEND_UNAVAILABLE'],
    ['57014', 'BACKEND_TIMEOUT'],
    ['53300', 'BACKEND_OVERLOADED'],
    ['53200', 'BACKEND_OVERLOADED'],
    ['53100', 'STORE_FULL'],
    ['40P01', 'BACKEND_OVERLOADED'],
    ['40001', 'BACKEND_OVERLOADED'],
    ['55P03', 'BACKEND_OVERLOADED'],
    ['25006', 'STORE_READ_ONLY'],
    ['28P01', 'PERMISSION_DENIED'],
    ['42501', 'PERMISSION_DENIED'],
    ['3D000', 'OPTIONS_INVALID'],
    ['3F000', 'SCHEMA_MISSING'],
    ['42P01', 'SCHEMA_MISSING'],
    ['42703', 'SCHEMA_TOO_OLD'],
    ['22P02', 'PAYLOAD_NOT_SUPPORTED'],
    ['22021', 'PAYLOAD_NOT_SUPPORTED'],
    ['54001', 'PAYLOAD_NOT_SUPPORTED'],
    ['54000', 'PAYLOAD_TOO_LARGE'],
    ['58030', 'BACKEND_UNAVAILABLE'],
    ['XX001', 'STORE_CORRUPT'],
    ['P0001', 'INTERNAL'],
  ])('SQLSTATE %s is %s', (state, code) => {
    expect(codeOf(answer(state))).toBe(code);
    expect(Object.keys(ERROR_CODES)).toContain(code);
  });

  test.each([
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ENOTFOUND',
    'EAI_AGAIN',
    'ETIMEDOUT',
    'EHOSTUNREACH',
    'ENOENT',
  ])('%s is BACKEND_UNAVAILABLE', (code) => expect(codeOf(network(code))).toBe('BACKEND_UNAVAILABLE'));

  test.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'Client has encountered a connection error and is not queryable',
    'Client was closed and is not queryable',
  ])('what pg says without a code: %s', (message) => {
    expect(codeOf(new Error(message))).toBe('BACKEND_UNAVAILABLE');
  });

  test('several addresses that all refuse are told by the first', () => {
    expect(codeOf(new AggregateError([network('ECONNREFUSED'), network('ECONNREFUSED')]))).toBe(
      'BACKEND_UNAVAILABLE',
    );
  });

  test('anything else is INTERNAL, retryable unknown, with the cause', () => {
    const strange = { odd: true };
    const error = fromNative(strange, 'claim');
    expect(error).toMatchObject({
      code: 'INTERNAL',
      retryable: 'unknown',
      adapter: 'postgres',
      operation: 'claim',
    });
    expect(error.cause).toBe(strange);
  });

  test('the words of the server, which may quote values, stay in the cause', () => {
    const error = fromNative(
      Object.assign(answer('22P02'), { message: 'invalid: "secret"' }),
      'enqueue',
      'id',
    );
    expect(error.message).not.toContain('secret');
    expect(error.jobId).toBe('id');
  });

  test('only what was rolled back as a whole is sent again', () => {
    expect(['40P01', '40001', '57014', '23505'].map((state) => isRolledBack(answer(state)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test('what may have been committed is told from what was not', () => {
    expect(mayHaveCommitted(answer('23505'))).toBe(false);
    expect(mayHaveCommitted(answer('57P01', 'FATAL'))).toBe(true);
    expect(mayHaveCommitted(network('ECONNRESET'))).toBe(true);
    expect(mayHaveCommitted(new Error('Client was closed and is not queryable'))).toBe(false);
  });

  test('an ERROR keeps the session, a FATAL one and a broken line do not', () => {
    expect([answer('22P02'), answer('57P01', 'FATAL'), network('EPIPE')].map(keepsSession)).toEqual([
      true,
      false,
      false,
    ]);
    // It leads to a server that will never take a write.
    expect(keepsSession(answer('25006'))).toBe(false);
  });

  test('errors of the data are told from errors of the store', () => {
    expect([answer('22021'), answer('54001'), answer('53100')].map(isDataError)).toEqual([true, true, false]);
  });
});
