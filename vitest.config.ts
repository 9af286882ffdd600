import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defaultServerConditions } from 'vite';
import { defineConfig } from 'vitest/config';

// Every package is run from its TypeScript source, as everywhere in this repository.
const condition = 'surety-source';
// As Node resolves: `module` is for bundlers, and a package's build for them may not run in Node at all.
const conditions = [condition, ...defaultServerConditions.filter((name) => name !== 'module')];
const folders = [
  ...['packages', 'examples'].flatMap((parent) =>
    readdirSync(new URL(`${parent}/`, import.meta.url), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `${parent}/${entry.name}`)
      .sort(),
  ),
  'test-drills',
  'scripts',
];

// What takes minutes, such as a cluster that loses its leader, stands apart: `npm run test:slow`.
const isSlow = process.env['SURETY_TESTS'] === 'slow';

export default defineConfig({
  test: {
    maxWorkers: 2,
    passWithNoTests: true,
    projects: folders.map((folder) => ({
      root: folder,
      resolve: { conditions },
      ssr: {
        resolve: { conditions, externalConditions: [condition], mainFields: [] },
      },
      test: {
        name: folder,
        include: [isSlow ? 'test/slow/**/*.test.ts' : 'test/**/*.test.ts'],
        exclude: isSlow ? [] : ['test/slow/**'],
        environment: 'node',
        // Starts nothing by itself; the first test that asks for a server gets one, and all share it.
        globalSetup: [fileURLToPath(new URL('packages/testbed/src/vitest-global-setup.ts', import.meta.url))],
        pool: 'forks',
        // Child processes started with child_process.fork inherit the condition too.
        execArgv: [`--conditions=${condition}`],
        testTimeout: 60_000,
        hookTimeout: 120_000,
        retry: 0,
        // A drill waits for leases and restarts nearly all the time; three at once, beside another file, are slowed down by each other.
        ...(folder === 'test-drills' && { sequence: { concurrent: true }, maxConcurrency: 2 }),
      },
    })),
  },
});
