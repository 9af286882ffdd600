/**
 * The static checks. All of them run, each prints one line, and only one that fails shows its output.
 * `npm run check -- lint knip` runs the named ones.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

interface Check {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

const root = join(import.meta.dirname, '..');
const bin = (name: string): string => join(root, 'node_modules/.bin', name);

const checks: readonly Check[] = [
  { name: 'format', command: bin('biome'), args: ['ci', '--colors=off', '--log-level=warn', '.'] },
  { name: 'generated', command: process.execPath, args: ['scripts/embed-statements.ts', '--check'] },
  {
    name: 'generated-docs',
    command: process.execPath,
    args: ['--conditions=surety-source', 'scripts/generate-docs.ts', '--check'],
  },
  {
    name: 'generated-readme',
    command: process.execPath,
    args: ['--conditions=surety-source', 'scripts/generate-readme.ts', '--check'],
  },
  { name: 'build', command: bin('tsc'), args: ['-b', 'packages'] },
  // Both read what was built.
  {
    name: 'generated-api',
    command: process.execPath,
    args: ['--conditions=surety-source', 'packages/docs/src/api-cli.ts', '--check'],
  },
  {
    name: 'packages',
    command: process.execPath,
    args: ['--conditions=surety-source', 'packages/consumer-check/src/tarballs-cli.ts'],
  },
  { name: 'test-types', command: bin('tsc'), args: ['-p', 'tsconfig.tests.json'] },
  { name: 'bench-types', command: bin('tsc'), args: ['-p', 'packages/bench/test', '--noEmit'] },
  { name: 'lint', command: bin('oxlint'), args: ['--type-aware', '--deny-warnings'] },
  { name: 'knip', command: bin('knip'), args: ['--no-progress', '--no-config-hints'] },
];

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !checks.some((check) => check.name === name));
if (unknown.length > 0) {
  console.error(`No such check: ${unknown.join(', ')}. There are: ${checks.map((c) => c.name).join(', ')}`);
  process.exit(2);
}

let failed = 0;
for (const check of checks) {
  if (wanted.length > 0 && !wanted.includes(check.name)) continue;
  const startedAt = performance.now();
  const result = spawnSync(check.command, check.args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const ok = result.status === 0;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${check.name} (${seconds} s)`);
  if (ok) continue;
  failed++;
  process.stdout.write(`${result.stdout ?? ''}${result.stderr ?? ''}`);
  if (result.error !== undefined) console.error(result.error);
}
process.exitCode = failed > 0 ? 1 : 0;
