import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { publishedPackages } from '../src/published-packages.ts';

const root = mkdtempSync(join(tmpdir(), 'surety-published-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('every package that is not private is published, without a list', () => {
  for (const [name, isPrivate] of [
    ['b', false],
    ['a', false],
    ['tool', true],
  ] as const) {
    mkdirSync(join(root, 'packages', name), { recursive: true });
    const manifest = { name, version: '0.0.0', ...(isPrivate ? { private: true } : {}) };
    writeFileSync(join(root, 'packages', name, 'package.json'), JSON.stringify(manifest));
  }
  mkdirSync(join(root, 'packages/not-yet'));
  writeFileSync(join(root, 'packages/tsconfig.json'), '{}');

  expect(publishedPackages(root).map(({ folder }) => folder)).toEqual(['packages/a', 'packages/b']);
});

test('core and the embedded adapter are among those of this repository, the test tools are not', () => {
  const names = publishedPackages().map(({ manifest }) => manifest.name);
  expect(names).toEqual(expect.arrayContaining(['@surety/core', '@surety/sqlite']));
  expect(names).not.toContain('@surety/testbed');
});
