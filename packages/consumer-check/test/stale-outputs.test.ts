import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { deleteStaleOutputs } from '../src/stale-outputs.ts';

const folder = mkdtempSync(join(tmpdir(), 'surety-stale-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('outputs without a source are deleted, and nothing else', () => {
  expect(deleteStaleOutputs(folder)).toEqual([]);
  mkdirSync(join(folder, 'src/deep'), { recursive: true });
  mkdirSync(join(folder, 'dist/deep'), { recursive: true });
  writeFileSync(join(folder, 'src/deep/kept.ts'), '');
  for (const ending of ['js', 'js.map', 'd.ts', 'd.ts.map'])
    for (const name of ['deep/kept', 'deep/moved', 'moved'])
      writeFileSync(join(folder, 'dist', `${name}.${ending}`), '');
  writeFileSync(join(folder, 'dist/.tsbuildinfo'), '');

  expect(deleteStaleOutputs(folder).length).toBe(8);
  const left = readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' }).sort();
  expect(left).toEqual([
    '.tsbuildinfo',
    'deep',
    'deep/kept.d.ts',
    'deep/kept.d.ts.map',
    'deep/kept.js',
    'deep/kept.js.map',
  ]);
});
