import { mkdir, rm, writeFile } from 'node:fs/promises';
import { type Cost, costs, type Ratio, ratios } from './compare.ts';
import type { BackendName } from './contestants/registry.ts';
import type { Machine } from './machine.ts';
import { summaries } from './medians.ts';
import type { Values } from './metrics.ts';
import type { SuiteOptions } from './suites/suite.ts';

/** What one contestant did in one round of a suite. */
export interface RunFigures {
  /** Jobs that the figures are of. */
  readonly jobs: number;
  /** True where the time allowed ended the run before its jobs did: its rates are those until then. */
  readonly cut: boolean;
  /** Jobs that were still in the store after it. */
  readonly left: number;
  /** Why the run does not count; null when it does. */
  readonly failure: string | null;
  readonly values: Values;
}

export interface Run extends RunFigures {
  readonly suite: string;
  readonly round: number;
  /** Handlers at the same time, or calls in flight. */
  readonly concurrency: number;
  readonly contestant: string;
}

/** What `reports/bench/<backend>.json` holds. */
export interface Report {
  readonly backend: BackendName;
  readonly date: string;
  readonly machine: Machine;
  /** Of the machine just before the bench. */
  readonly loadBefore: number;
  readonly versions: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, string>>;
  readonly options: SuiteOptions;
  readonly ratios: readonly Ratio[];
  readonly costs: readonly Cost[];
  readonly runs: readonly Run[];
}

export function makeReport(facts: Omit<Report, 'ratios' | 'costs'>): Report {
  const { runs, ...before } = facts;
  const cells = summaries(runs);
  return { ...before, ratios: ratios(cells), costs: costs(cells), runs };
}

/** Numbers are written with four significant digits: a run is not more exact than that. */
export async function writeReport(file: URL, report: Report): Promise<void> {
  await mkdir(new URL('.', file), { recursive: true });
  const text = JSON.stringify(report, (_, value: unknown) => (isFraction(value) ? rounded(value) : value), 2);
  await writeFile(file, `${text}\n`);
}

/** Before a bench begins, so that one that breaks leaves no older figures behind as its own. */
export async function removeReport(file: URL): Promise<void> {
  await rm(file, { force: true });
}

function isFraction(value: unknown): value is number {
  return typeof value === 'number' && !Number.isInteger(value);
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
