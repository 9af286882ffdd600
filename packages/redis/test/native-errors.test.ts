import { SuretyError } from '@surety/core/errors';
import { describe, expect, test } from 'vitest';
import { NotConnected } from '../src/link.ts';
import { codeOf, endsConnection, fromNative, isNoScript, mayHaveActed } from '../src/native-errors.ts';

function replyError(message: string): Error {
  const error = new Error(message);
  error.name = 'ReplyError';
  return error;
}

describe('errors of the server and of the client', () => {
  test.each([
    ["READONLY You can't write against a read only replica.", 'BACKEND_UNAVAILABLE', false],
    ['LOADING Redis is loading the dataset in memory', 'BACKEND_UNAVAILABLE', false],
    ["OOM command not allowed when used memory > 'maxmemory'.", 'STORE_FULL', false],
    ['MISCONF Errors writing to the AOF file: No space left on device', 'STORE_FULL', false],
    ['MASTERDOWN Link with MASTER is down', 'BACKEND_UNAVAILABLE', false],
    ['CLUSTERDOWN The cluster is down', 'BACKEND_UNAVAILABLE', false],
    ['TRYAGAIN Multiple keys request during rehashing of slot', 'BACKEND_UNAVAILABLE', false],
    ['NOREPLICAS Not enough good replicas to write.', 'BACKEND_UNAVAILABLE', false],
    ['UNBLOCKED force unblock from blocking operation', 'BACKEND_UNAVAILABLE', false],
    ["CROSSSLOT Keys in request don't hash to the same slot", 'STORE_UNSUITABLE', false],
    ['MOVED 866 127.0.0.1:7002', 'STORE_UNSUITABLE', false],
    ['BUSY Redis is busy running a script.', 'BACKEND_OVERLOADED', false],
    ['ERR max number of clients reached', 'BACKEND_OVERLOADED', true],
    ['NOAUTH Authentication required.', 'PERMISSION_DENIED', false],
    ['WRONGPASS invalid username-password pair or user is disabled.', 'PERMISSION_DENIED', false],
    ["NOPERM User worker has no permissions to run the 'evalsha' command", 'PERMISSION_DENIED', false],
    ['WRONGTYPE Operation against a key holding the wrong kind of value', 'STORE_CORRUPT', true],
    ['ERR something else', 'INTERNAL', true],
    // In the middle of a script, what came before it was done.
    [
      "ERR The user executing the script can't run this command or subcommand script: 37, on @user_script:1.",
      'PERMISSION_DENIED',
      true,
    ],
    [
      "ERR The user executing the script can't access at least one of the keys mentioned",
      'PERMISSION_DENIED',
      true,
    ],
    [
      "ERR ACL failure in script: User u has no permissions to run the 'zadd' command",
      'PERMISSION_DENIED',
      true,
    ],
  ])('%s is %s', (message, code, uncertain) => {
    expect(codeOf(replyError(message))).toBe(code);
    expect(mayHaveActed(replyError(message))).toBe(uncertain);
  });

  test('a server that answered with an error is not one that fell silent', () => {
    expect(endsConnection(replyError('OOM command not allowed'))).toBe(false);
    expect(endsConnection(replyError('READONLY no'))).toBe(true);
    expect(endsConnection(new Error('Connection is closed.'))).toBe(true);
  });

  test('a lost connection leaves it open whether the server acted; one that was never made does not', () => {
    expect(mayHaveActed(new Error('Connection is closed.'))).toBe(true);
    expect(mayHaveActed(new NotConnected('no'))).toBe(false);
    const refused = "Stream isn't writeable and enableOfflineQueue options is false";
    expect(mayHaveActed(new Error(refused))).toBe(false);
    expect(codeOf(new Error(refused))).toBe('BACKEND_UNAVAILABLE');
  });

  test('an unknown script was not executed', () => {
    expect(isNoScript(replyError('NOSCRIPT No matching script. Please use EVAL.'))).toBe(true);
    expect(mayHaveActed(replyError('NOSCRIPT No matching script.'))).toBe(false);
  });

  test('what crosses the contract says what to do, keeps the cause and shows no words of the server', () => {
    const native = replyError("NOPERM User worker has no permissions, password 'secret-word'");
    const error = fromNative(native, 'claim');
    expect(error).toBeInstanceOf(SuretyError);
    expect([error.code, error.adapter, error.operation, error.cause]).toEqual([
      'PERMISSION_DENIED',
      'redis',
      'claim',
      native,
    ]);
    expect(error.message).not.toContain('secret-word');
    const told = (words: string): string => fromNative(replyError(words), 'claim').message;
    expect(told("NOPERM this user has no permissions to run the 'zadd' command")).toContain(
      'the command ZADD',
    );
    expect(told('NOPERM this user has no permissions to access one of the keys')).toContain('a key');
    expect(told("ERR The user executing the script can't run this command")).toContain(
      'a command of a script',
    );
    expect(fromNative(replyError('OOM no'), 'enqueue').remedy).toContain('maxmemory');
    const unreachable = fromNative(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'open');
    expect([unreachable.code, unreachable.retryable]).toEqual(['BACKEND_UNAVAILABLE', 'yes']);
    expect(unreachable.message).toContain('ECONNREFUSED');
  });
});
