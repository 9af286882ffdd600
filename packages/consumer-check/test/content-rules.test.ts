import { describe, expect, test } from 'vitest';
import { contentFindings } from '../src/content-rules.ts';
import { LICENCE, soundContent } from './sound-package.ts';

describe('the files of a package', () => {
  test('that is sound have no findings', () => {
    expect(contentFindings(soundContent(), LICENCE)).toEqual([]);
  });

  test('may hold the command that its manifest names, which is looked at like the rest', () => {
    const content = soundContent({ 'bin/run.js': "#!/usr/bin/env node\nimport '../dist/index.js';\n" });
    expect(contentFindings(content, LICENCE)).toEqual(['holds bin/run.js']);
    const manifest = { ...content.manifest, bin: { run: './bin/run.js' } };
    expect(contentFindings({ ...content, manifest }, LICENCE)).toEqual([]);
    const broken = soundContent({ 'bin/run.js': "import '../dist/main.js';\n" });
    expect(contentFindings({ ...broken, manifest }, LICENCE)).toEqual([
      'bin/run.js imports "../dist/main.js", which is not in the tarball',
    ]);
  });

  const faults: readonly (readonly [string, Readonly<Record<string, string | null>>, string])[] = [
    ['a missing licence', { LICENSE: null }, 'lacks LICENSE'],
    ['another licence', { LICENSE: 'None' }, 'LICENSE differs'],
    ['a missing page', { 'README.md': null }, 'lacks README.md'],
    [
      'the page of another package',
      { 'README.md': 'npm install @surety/sound-thing' },
      'README.md does not say how to install @surety/sound',
    ],
    ['an old change log', { 'CHANGELOG.md': '## 1.2.2\n' }, 'no section for 1.2.3'],
    ['a test', { 'src/part.test.ts': '', 'dist/part.test.js': '' }, 'holds src/part.test.ts'],
    ['a folder of tests', { 'dist/test/a.js': '', 'src/test/a.ts': '' }, 'holds dist/test/a.js'],
    ['the state of the compiler', { 'dist/.tsbuildinfo': '{}' }, 'holds dist/.tsbuildinfo'],
    ['a stray file', { '.env': 'SECRET=1' }, 'holds .env'],
    ['what no source makes', { 'dist/old.js': '' }, 'holds dist/old.js, which no published source makes'],
    ['a source that was not compiled', { 'src/new.ts': '' }, 'lacks dist/new.js'],
    ['an entry that is not there', { 'dist/index.d.ts': null }, 'points to dist/index.d.ts'],
    [
      'a map to nowhere',
      { 'dist/index.js.map': JSON.stringify({ sources: ['../../other/x.ts'] }) },
      'dist/index.js.map names ../other/x.ts',
    ],
    [
      'an import that is not declared',
      { 'dist/part.js': "import {\n  a,\n} from '@scope/undeclared/deep';\n" },
      'dist/part.js imports "@scope/undeclared/deep", which the package does not declare',
    ],
    ['an import of a test tool', { 'dist/part.js': "import { test } from 'vitest';\n" }, 'imports "vitest"'],
    ['an undeclared type', { 'dist/part.d.ts': 'export const a: import("pg").Pool;\n' }, 'imports "pg"'],
    ['an undeclared lazy import', { 'dist/part.js': "const a = await import('pg');\n" }, 'imports "pg"'],
    ['an import for its effect', { 'dist/part.js': "import 'undeclared';\n" }, 'imports "undeclared"'],
    [
      'an import of a missing file',
      { 'dist/part.js': "export * from './gone.js';\n" },
      'imports "./gone.js"',
    ],
    ['a built-in without its prefix', { 'dist/part.js': "import 'fs';\n" }, 'without "node:"'],
  ];
  test.each(faults)('with %s are found out', (_, changes, finding) => {
    expect(contentFindings(soundContent(changes), LICENCE).join('\n')).toContain(finding);
  });
});
