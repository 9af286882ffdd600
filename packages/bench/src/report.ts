import { mkdir, rm, writeFile } from 'node:fs/promises';
import type { BackendName } from './contestants/registry.ts';
import type { Machine } from './machine.ts';
import { ratios, summaries } from './medians.ts';
import type { SuiteOptions } from './suites/suite.ts';

/** One measured run. */
export interface Run {
  readonly suite: string;
  readonly round: number;
  readonly contestant: string;
  readonly concurrency: number;
  readonly jobs: number;
  readonly elapsedMs: number;
  /** Until the end of the last handler. */
  readonly handledMs: number;
  /** Jobs a second. */
  readonly throughput: number;
  readonly workerCpuUsPerJob: number;
  readonly serverCpuUsPerJob: number | null;
  /** Jobs that were still in the store after it. */
  readonly left: number;
  /** Why the run does not count; null when it does. */
  readonly failure: string | null;
}

/** Surety over a peer; above 1 is better. */
export interface Ratio {
  readonly suite: string;
  readonly peer: string;
  readonly concurrency: number;
  readonly metric: 'throughput';
  readonly ratio: number;
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
  readonly runs: readonly Run[];
}

export function makeReport(facts: Omit<Report, 'ratios'>): Report {
  const { runs, ...before } = facts;
  return { ...before, ratios: ratios(summaries(runs)), runs };
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
