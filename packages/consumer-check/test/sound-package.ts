import type { PackageContent } from '../src/content-rules.ts';
import type { Manifest, PublishedPackage } from '../src/published-packages.ts';

export const LICENCE = 'MIT License\n';

/** A manifest in which the rules find nothing. */
export const SOUND_MANIFEST: Manifest = {
  name: '@surety/sound',
  version: '1.2.3',
  description: 'Sound',
  keywords: ['surety'],
  license: 'MIT',
  type: 'module',
  sideEffects: false,
  exports: {
    '.': { 'surety-source': './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' },
    './package.json': './package.json',
  },
  engines: { node: '>=22.13' },
  publishConfig: { access: 'public', provenance: true },
  dependencies: { pino: '^10.4.0' },
  peerDependencies: { '@surety/core': '^2.0.0' },
  devDependencies: { vitest: '5.1.2' },
};

export const CORE: PublishedPackage = {
  folder: 'packages/core',
  manifest: { name: '@surety/core', version: '2.0.0' },
};

/** Files in which the rules find nothing; `changes` replaces some, `null` takes one away. */
export function soundContent(changes: Readonly<Record<string, string | null>> = {}): PackageContent {
  const all: Record<string, string | null> = {
    'package.json': JSON.stringify(SOUND_MANIFEST),
    'README.md': '# Sound\n\n```sh\nnpm install @surety/core @surety/sound\n```\n',
    'CHANGELOG.md': '# @surety/sound\n\n## 1.2.3\n\nFirst.\n',
    LICENSE: LICENCE,
    'src/index.ts': "import { pino } from 'pino';\nexport * from './part.ts';\n",
    'src/part.ts': 'export const part = 1;\n',
    'src/statements/claim.sql': 'select 1',
    'dist/index.js': "import { pino } from 'pino';\nimport 'node:fs';\nexport * from './part.js';\n",
    'dist/index.js.map': JSON.stringify({ sources: ['../src/index.ts'] }),
    'dist/index.d.ts': "export * from './part.ts';\nexport type { Job } from '@surety/core/contract';\n",
    'dist/part.js': '/** import { x } from "nowhere"; */\nexport const part = 1;\n',
    'dist/part.d.ts': 'export declare const part = 1;\n',
    ...changes,
  };
  const files = new Map(Object.entries(all).flatMap(([file, text]) => (text === null ? [] : [[file, text]])));
  return {
    manifest: SOUND_MANIFEST,
    files: new Set(files.keys()),
    read: (file) => files.get(file) ?? '',
  };
}
