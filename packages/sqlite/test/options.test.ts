import { existsSync } from 'node:fs';
import { sqlite } from '@surety/sqlite';
import { expect, test } from 'vitest';
import { freshFile } from './asking.ts';

const codeOf = (make: () => unknown): unknown => {
  try {
    make();
    return 'made';
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
};

test.each([
  ['no path', undefined],
  ['an empty path', ''],
  ['an unknown option', { file: 'a.db', fiel: 'b.db' }],
  ['a negative time', { file: 'a.db', keepCompletedMs: -1 }],
  ['a fraction', { file: 'a.db', pollMs: 1.5 }],
  ['a busy time that would hold the event loop', { file: 'a.db', busyMs: 5000 }],
  ['a text for a number', { file: 'a.db', pollMs: '10' }],
  ['a number for a truth', { file: 'a.db', shared: 1 }],
])('refuses %s', (_, options) => {
  expect(codeOf(() => sqlite(options as never))).toBe('OPTIONS_INVALID');
});

test.each([':memory:', 'file:jobs.db?mode=memory'])('refuses %s and names the memory backend', (file) => {
  expect(() => sqlite(file)).toThrow(/memory\(\) of '@surety\/memory'/);
});

test('makes no file before open, and states its figures', () => {
  const file = freshFile();
  const { capabilities } = sqlite({ file, pollMs: 100 });
  expect(existsSync(file)).toBe(false);
  expect(capabilities.durability).toBe('fsync');
  expect(capabilities.idleOperationsPerMinute).toBe(660);
  expect(capabilities.pacing.boundMs).toBe(400);
});
