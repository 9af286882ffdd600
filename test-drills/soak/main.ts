/** `npm run soak`: load and faults for a long time on a server that this repository starts, and the account of it. */
import { randomInt } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { progressOn } from '../stage/progress.ts';
import { startForkedActor } from './forked-actor.ts';
import { LONG_MIX } from './jobs.ts';
import { parseSoakArguments, type SoakArguments } from './parse-arguments.ts';
import { againLine, type SoakReport, soakLines } from './report.ts';
import { soak } from './soak.ts';
import { soakPlace } from './soak-place.ts';

const ROOT = join(import.meta.dirname, import.meta.filename.endsWith('.ts') ? '../..' : '../../..');
const REPORTS = join(ROOT, 'reports/soak');
const MAX_SEED = 2 ** 31 - 1;
const FAULTS_PER_MINUTE = 9;
const WORKERS = 3;
const PRODUCERS = 2;
const SHORT_LEASE_MS = 2000;
const LONGEST_DELAY_MS = 20_000;
/** Everything that is under way, the last leases, the delays; beside other work on the same machine. */
const DRAIN_MS = 300_000;

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => interrupted.abort(new Error(`interrupted by ${signal}; cleaned up`)));

process.exitCode = await main(parseSoakArguments(process.argv.slice(2)));

async function main(given: SoakArguments): Promise<number> {
  if (given.kind !== 'run') {
    (given.kind === 'help' ? console.log : console.error)(given.text);
    return given.kind === 'help' ? 0 : 2;
  }
  const seed = given.seed ?? randomInt(1, MAX_SEED);
  const folder = given.keep ?? (await mkdtemp(join(tmpdir(), `surety-soak-${given.backend}-`)));
  await mkdir(folder, { recursive: true });
  console.log(againLine({ ...given, seed }));
  try {
    const report = await run(given, seed, folder);
    await mkdir(REPORTS, { recursive: true });
    await writeFile(join(REPORTS, `${given.backend}.json`), `${JSON.stringify(report, null, 2)}\n`);
    const held = report.findings.length === 0;
    if (held && given.keep === null) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    else console.log(`traces and logs: ${folder}`);
    return held ? 0 : 1;
  } catch (error) {
    console.error(
      `${given.backend}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\nseed ${seed}, ${folder}`,
    );
    return interrupted.signal.aborted ? 130 : 1;
  }
}

async function run(
  given: SoakArguments & { kind: 'run' },
  seed: number,
  folder: string,
): Promise<SoakReport> {
  const { backend, jobs, minutes } = given;
  await using place = await soakPlace(backend, seed);
  const probe = await place.open();
  const { lease } = probe.capabilities;
  const progress = progressOn(process.stdout, backend);
  const report = await soak({
    place,
    jobs,
    forMs: minutes * 60_000,
    seed,
    faults: given.faults ?? Math.ceil(minutes * FAULTS_PER_MINUTE),
    mix: LONG_MIX,
    workers: WORKERS,
    producers: PRODUCERS,
    leaseMs: Math.min(Math.max(SHORT_LEASE_MS, lease.minMs), lease.maxMs),
    longestDelayMs: LONGEST_DELAY_MS,
    drainMs: DRAIN_MS,
    folder,
    start: (roads) => (task) =>
      startForkedActor(
        task,
        (task.road === null ? null : roads[task.road]?.connect) ?? place.connect,
        folder,
      ),
    progress,
    signal: interrupted.signal,
    versions: await versions(backend),
  });
  progress.print(...soakLines(report));
  return report;
}

async function versions(backend: string): Promise<Readonly<Record<string, string>>> {
  const manifest = await readFile(join(ROOT, `packages/${backend}/package.json`), 'utf8');
  const { version } = JSON.parse(manifest) as { readonly version: string };
  return { [`@surety/${backend}`]: version, node: process.versions.node };
}
