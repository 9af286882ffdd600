import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BackendName, contestantNames, loadContestant } from './contestants/registry.ts';
import { installedVersion } from './installed-version.ts';
import { describeMachine, loadNow } from './machine.ts';
import { type BenchArguments, parseArguments, UsageError } from './parse-arguments.ts';
import { makeReport, type Run, removeReport, writeReport } from './report.ts';
import { openStore } from './stores/open-store.ts';
import { Stock } from './stores/stock.ts';
import { SUITES } from './suites/all.ts';
import type { SuiteOptions } from './suites/suite.ts';
import { runLine, table } from './table.ts';

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
async function bench({ backend, options, report: given }: BenchArguments): Promise<number> {
  const file = given === null ? usualPlace(backend, options) : pathToFileURL(resolve(given));
  if (file !== null) await removeReport(file);
  const loadBefore = loadNow();
  const runs: Run[] = [];
  await using store = await openStore(backend);
  const versions = { node: process.versions.node, ...store.versions, ...(await versionsOf(backend)) };
  const stock = new Stock(store);
  for (const suite of SUITES.filter(({ name }) => options.suites.includes(name))) {
    const onRun = (run: Run): void => console.log(runLine(run));
    runs.push(...(await suite.run({ backend, store, stock, options, onRun })));
  }
  const report = makeReport({
    backend,
    date: new Date().toISOString(),
    machine: describeMachine(),
    loadBefore,
    versions,
    settings: store.settings,
    options,
    runs,
  });
  if (file !== null) await writeReport(file, report);
  console.log(`\n${table(runs)}\n\nMedians of ${options.rounds} rounds.`);
  if (loadBefore > QUIET_LOAD)
    console.log(`The machine was busy (load ${loadBefore.toFixed(1)}): read no ratio from this.`);
  console.log(file === null ? 'No report, since not all suites ran.' : `Report: ${fileURLToPath(file)}`);
  return runs.some(({ failure }) => failure !== null) ? 1 : 0;
}

function usualPlace(backend: BackendName, { suites }: SuiteOptions): URL | null {
  if (SUITES.some(({ name }) => !suites.includes(name))) return null;
  return new URL(`../../../reports/bench/${backend}.json`, import.meta.url);
}

async function versionsOf(backend: BackendName): Promise<Record<string, string>> {
  const versions: Record<string, string> = {};
  for (const name of contestantNames(backend)) {
    const { packages } = await loadContestant(backend, name);
    for (const each of packages) versions[each] = await installedVersion(each);
  }
  return versions;
}
