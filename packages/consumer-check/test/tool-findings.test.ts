import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createPackageFromTarballData } from '@arethetypeswrong/core';
import { afterAll, expect, test } from 'vitest';
import { publintFindings, typeFindings } from '../src/tool-findings.ts';
import { SOUND_MANIFEST } from './sound-package.ts';

const folder = mkdtempSync(join(tmpdir(), 'surety-tools-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SOUND = {
  'package.json': JSON.stringify({ ...SOUND_MANIFEST, files: ['dist', 'src'] }),
  'README.md': '# Sound\n',
  'src/index.ts': 'export const part: number = 1;\n',
  'dist/index.js': 'export const part = 1;\n',
  'dist/index.d.ts': 'export declare const part: number;\n',
};

async function findings(name: string, changes: Readonly<Record<string, string>> = {}): Promise<string> {
  const at = join(folder, name);
  for (const [file, text] of Object.entries({ ...SOUND, ...changes })) {
    mkdirSync(dirname(join(at, file)), { recursive: true });
    writeFileSync(join(at, file), text);
  }
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent'], {
    cwd: at,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const tarball = new Uint8Array(readFileSync(join(at, 'surety-sound-1.2.3.tgz')));
  const found = [
    ...(await publintFindings(tarball.buffer)),
    ...(await typeFindings(createPackageFromTarballData(tarball))),
  ];
  return found.join('\n');
}

test('a sound package, importable as ESM only, has no findings', async () => {
  expect(await findings('sound')).toBe('');
});

test('publint is heard: code in another format than the manifest says', async () => {
  expect(await findings('format', { 'dist/index.js': 'exports.part = require("x");\n' })).toMatch(
    /publint: /,
  );
});

test('arethetypeswrong is heard: types that import what is not there', async () => {
  const types = "export { part } from './gone.ts';\n";
  expect(await findings('types', { 'dist/index.d.ts': types })).toMatch(
    /arethetypeswrong: .*InternalResolution/,
  );
});
