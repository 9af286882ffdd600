import { fileURLToPath } from 'node:url';
import { type BackendName, contestantNames, loadContestant } from './contestants/registry.ts';
import { installedVersion } from './installed-version.ts';
import { describeMachine, loadNow } from './machine.ts';
import { type BenchArguments, parseArguments, UsageError } from './parse-arguments.ts';
import { makeReport, type Run, removeReport, writeReport } from './report.ts';
import { openPostgresStore } from './stores/postgres-store.ts';
import { openSqliteStore } from './stores/sqlite-store.ts';
import type { Store } from './stores/store.ts';
import { SUITES } from './suites/all.ts';
import { runLine, table } from './table.ts';

const OPEN: Readonly<Record<BackendName, () => Promise<Store>>> = {
  postgres: openPostgresStore,
  sqlite: openSqliteStore,
};

/** Above it something else runs, and whose run it disturbs is chance. */
const QUIET_LOAD = 0.5;

try {
  process.exitCode = await bench(parseArguments(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}

/** Answers the exit code: 1 when a run failed. */
async function bench({ backend, options }: BenchArguments): Promise<number> {
  const file = new URL(`../../../reports/bench/${backend}.json`, import.meta.url);
  await removeReport(file);
  const contestants = contestantNames(backend);
  const loadBefore = loadNow();
  const runs: Run[] = [];
  await using store = await OPEN[backend]();
  for (const suite of SUITES) {
    const onRun = (run: Run): void => console.log(runLine(run));
    runs.push(...(await suite.run({ backend, contestants, store, options, onRun })));
  }
  const report = makeReport({
    backend,
    date: new Date().toISOString(),
    machine: describeMachine(),
    loadBefore,
    versions: { node: process.versions.node, ...store.versions, ...(await versionsOf(backend, contestants)) },
    settings: store.settings,
    options,
    runs,
  });
  await writeReport(file, report);
  console.log(`\n${table(runs)}\n\nMedians of ${options.rounds} rounds, ${options.jobs} jobs each.`);
  if (loadBefore > QUIET_LOAD)
    console.log(`The machine was busy (load ${loadBefore.toFixed(1)}): read no ratio from this.`);
  console.log(`Report: ${fileURLToPath(file)}`);
  return runs.some(({ failure }) => failure !== null) ? 1 : 0;
}

async function versionsOf(
  backend: BackendName,
  contestants: readonly string[],
): Promise<Record<string, string>> {
  const versions: Record<string, string> = {};
  for (const name of contestants) {
    const { packages } = await loadContestant(backend, name);
    for (const each of packages) versions[each] = await installedVersion(each);
  }
  return versions;
}
