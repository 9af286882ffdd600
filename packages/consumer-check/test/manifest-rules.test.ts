import { describe, expect, test } from 'vitest';
import { manifestFindings } from '../src/manifest-rules.ts';
import type { Manifest } from '../src/published-packages.ts';
import { CORE, SOUND_MANIFEST } from './sound-package.ts';

function findings(change: Partial<Manifest>): string {
  const manifest = { ...SOUND_MANIFEST, ...change };
  return manifestFindings({ folder: 'packages/sound', manifest }, [CORE]).join('\n');
}

describe('a manifest', () => {
  test('that is sound has no findings', () => {
    expect(findings({})).toBe('');
  });

  test.each<readonly [string, Partial<Manifest>, string]>([
    ['no description', { description: '' }, 'description'],
    ['no keywords', { keywords: [] }, 'keywords'],
    ['another licence', { license: 'UNLICENSED' }, 'license'],
    ['CommonJS', { type: 'commonjs' }, 'type'],
    ['side effects', { sideEffects: true }, 'sideEffects'],
    ['another oldest Node', { engines: { node: '>=20' } }, 'engines'],
    ['a hidden package.json', { exports: { '.': './dist/index.js' } }, './package.json'],
    ['no provenance', { publishConfig: { access: 'public' } }, 'publishConfig'],
    ['a script at installation', { scripts: { postinstall: 'node x.js' } }, 'postinstall'],
  ])('with %s is found out', (_, change, finding) => {
    expect(findings(change)).toContain(finding);
  });

  test.each<readonly [string, Partial<Manifest>, string]>([
    ['of any version of a sibling', { peerDependencies: { '@surety/core': '*' } }, 'must be "^2.0.0"'],
    ['of an old sibling', { dependencies: { '@surety/core': '^1.9.0' } }, 'must be "^2.0.0"'],
    ['of a private package', { dependencies: { '@surety/testbed': '^0.1.0' } }, 'is not published'],
    ['of a pinned version', { dependencies: { pino: '10.4.0' } }, 'caret range'],
    ['of any version', { optionalDependencies: { pino: '*' } }, 'caret range'],
    ['of a folder', { dependencies: { pino: 'file:../pino' } }, 'caret range'],
  ])('with a dependency %s is found out', (_, change, finding) => {
    expect(findings(change)).toContain(finding);
  });
});
