/**
 * Does what a user does: installs the packed packages in an empty folder, compiles programs against them with several
 * versions of TypeScript, and runs them on the oldest and on the newest supported Node.
 *
 *   npm run consumer-check [-- --latest] [--keep]
 *
 * --latest installs the newest dependencies instead of those of the lock file; --keep leaves the folder and says where it is.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createConsumer, RESOLUTIONS, type Resolution } from './consumer-project.ts';
import { packPackages } from './pack.ts';
import { publishedPackages } from './published-packages.ts';
import { type Ending, runProgram } from './run-program.ts';
import { type Compiler, type Node, prepareToolchain } from './toolchain.ts';

/** The slowest step takes some seconds; a step that takes this long hangs. */
const STEP_LIMIT_MS = 120_000;
/** The compilers are single-threaded, and so are the programs. */
const AT_ONCE = 2;

const { values } = parseArgs({
  options: { latest: { type: 'boolean', default: false }, keep: { type: 'boolean', default: false } },
});
const folder = mkdtempSync(join(tmpdir(), 'surety-consumer-'));
const consumer = join(folder, 'consumer');
let failed = 0;

try {
  const packages = publishedPackages();
  const packed = packPackages(packages, join(folder, 'tarballs'));
  const [toolchain] = await Promise.all([
    prepareToolchain(),
    createConsumer(consumer, packed, values.latest ? 'latest' : 'locked'),
  ]);
  console.log(`ok   installed ${packages.map(({ manifest }) => manifest.name).join(', ')}`);
  const oldest = toolchain.compilers[0];
  if (oldest === undefined) throw new Error('The toolchain names no TypeScript.');
  await inTurn(
    toolchain.compilers.flatMap((compiler) =>
      (Object.keys(RESOLUTIONS) as Resolution[]).map(
        (resolution) => () => compile(compiler, resolution, compiler === oldest && resolution === 'nodenext'),
      ),
    ),
  );
  const commands = packages.flatMap(({ manifest }) =>
    typeof manifest.bin === 'object' ? Object.keys(manifest.bin) : [],
  );
  await inTurn(toolchain.nodes.flatMap((node) => programsOn(node, commands)));
} catch (error) {
  failed++;
  console.error(error instanceof Error ? error.message : error);
} finally {
  if (values.keep) console.log(`kept ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed > 0 ? 1 : 0;

function compile(compiler: Compiler, resolution: Resolution, emits: boolean): Promise<void> {
  const args = [compiler.tsc, '-p', `tsconfig.${resolution}.json`, '--pretty', 'false'];
  return step(`TypeScript ${compiler.version}, ${resolution}`, () =>
    runProgram(process.execPath, emits ? args : [...args, '--noEmit'], {
      cwd: consumer,
      limitMs: STEP_LIMIT_MS,
    }),
  );
}

function programsOn(node: Node, commands: readonly string[]): (() => Promise<void>)[] {
  const run = (title: string, args: readonly string[], stopAfter?: string) => (): Promise<void> =>
    step(`Node ${node.version}, ${title}`, () =>
      runProgram(node.executable, args, {
        cwd: mkdtempSync(join(folder, 'run-')),
        limitMs: STEP_LIMIT_MS,
        ...(stopAfter === undefined ? {} : { stopAfter }),
      }),
    );
  return [
    run('every entry point', [join(consumer, 'out/entry-points.js')]),
    run('the application', [join(consumer, 'out/application.js')]),
    run('the example of the README', [join(consumer, 'out/quick-start.js')], 'receipt for A-1001, attempt 1'),
    ...commands.map((name) =>
      run(`the command ${name}`, [join(consumer, 'node_modules/.bin', name), '--help']),
    ),
  ];
}

async function step(title: string, act: () => Promise<Ending>): Promise<void> {
  const startedAt = performance.now();
  const { ok, output } = await act();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${title} (${seconds} s)`);
  if (ok) return;
  failed++;
  console.log(output);
}

async function inTurn(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const waiting = [...steps];
  const next = async (): Promise<void> => {
    for (let act = waiting.shift(); act !== undefined; act = waiting.shift()) await act();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}
