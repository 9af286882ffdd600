import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES, type ErrorCode } from '@surety/core';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../../..');
const table = Object.entries(ERROR_CODES);
const names = Object.keys(ERROR_CODES);

/** Codes for what only some brokers do: their adapters use them, core itself has no need. */
const RESERVED: readonly ErrorCode[] = [
  'SCHEMA_MISSING',
  'SCHEMA_TOO_OLD',
  'SCHEMA_TOO_NEW',
  'STORE_UNSUITABLE',
  'STORE_CORRUPT',
  'STORE_READ_ONLY',
  'BACKEND_OVERLOADED',
  'STORE_FULL',
  'PERMISSION_DENIED',
  'QUEUE_FULL',
  'DURABILITY_NOT_REACHED',
];

function sources(pattern: string): string {
  return globSync(pattern, { cwd: root })
    .filter((file) => !file.endsWith('errors/codes.ts'))
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n');
}

describe('the error table', () => {
  test('every code in it is used by core, or reserved for adapters; none is both', () => {
    const core = sources('packages/core/src/**/*.ts');
    const used = names.filter((name) => core.includes(`'${name}'`));
    expect(names.filter((name) => !used.includes(name))).toEqual(RESERVED);
  });

  test('every code that the sources make an error with is in it', () => {
    const made = [...sources('packages/*/src/**/*.ts').matchAll(/new SuretyError\(\s*'([A-Z_]+)'/g)];
    expect(made.length).toBeGreaterThan(30);
    expect(made.map(([, code]) => code).filter((code) => !names.includes(code ?? ''))).toEqual([]);
  });

  test('texts are sentences, and of its own each', () => {
    for (const [code, { meaning, remedy }] of table) {
      expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
      for (const text of [meaning, remedy]) expect(text).toMatch(/^[A-Z][^\n|]+[^.\s]\.$/);
    }
    expect(new Set(table.map(([, { meaning }]) => meaning)).size).toBe(table.length);
  });

  test('what may have been done already is retryable: unknown, and the other way round', () => {
    for (const [code, { family, retryable }] of table) {
      expect([code, retryable === 'unknown']).toEqual([code, family === 'uncertain' || family === 'bug']);
    }
  });

  test('nothing in it can be changed', () => {
    expect([ERROR_CODES, ...Object.values(ERROR_CODES)].every((part) => Object.isFrozen(part))).toBe(true);
  });
});

describe('the page of the docs', () => {
  const page = readFileSync(join(root, 'packages/docs/errors.md'), 'utf8');

  test('has one row for each code, with its meaning and remedy', () => {
    const rows = page.split('\n').filter((line) => line.startsWith('| `'));
    expect(rows.map((row) => /^\| `([A-Z_]+)` \|/.exec(row)?.[1] ?? row).toSorted()).toEqual(
      names.toSorted(),
    );
    for (const [code, { retryable, meaning, remedy }] of table) {
      expect(rows).toContain(`| \`${code}\` | ${retryable} | ${meaning} | ${remedy} |`);
    }
  });

  test('is what the generator writes', () => {
    const script = join(root, 'scripts/generate-docs.ts');
    const args = ['--conditions=surety-source', script, '--check'];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });
});
