import { parseArgs } from 'node:util';
import { BACKENDS, type BackendName, SUITE_NAMES, type SuiteName } from './contestants/registry.ts';
import type { SuiteOptions } from './suites/suite.ts';

export interface BenchArguments {
  readonly backend: BackendName;
  readonly options: SuiteOptions;
  /** Where the report goes. Null: to its usual place, if all suites run, and nowhere if not: it would replace a whole one. */
  readonly report: string | null;
}

/** What the command was given cannot be done. The message is one line. */
export class UsageError extends Error {}

const USAGE = `bench <${BACKENDS.join('|')}> [--suite ${SUITE_NAMES.join(',')}] [--jobs 20000] [--warm-up 5000] [--rounds 3] [--concurrency 1,10,100] [--backlog 1000000] [--limit 5000] [--report FILE]`;
const OPTIONS = {
  suite: { type: 'string', default: SUITE_NAMES.join(',') },
  jobs: { type: 'string', default: '20000' },
  'warm-up': { type: 'string', default: '5000' },
  rounds: { type: 'string', default: '3' },
  concurrency: { type: 'string', default: '1,10,100' },
  backlog: { type: 'string', default: '1000000' },
  limit: { type: 'string', default: '5000' },
  report: { type: 'string' },
} as const;

/** Throws UsageError. */
export function parseArguments(args: readonly string[]): BenchArguments {
  const { values, positionals } = parsed(args);
  const [backend, ...more] = positionals;
  if (backend === undefined) throw usage('Name a backend.');
  if (!isBackend(backend)) throw usage(`There is no bench for '${backend}'.`);
  if (more.length > 0) throw usage(`Only one backend at a time, not '${more.join(' ')}' too.`);
  return {
    backend,
    report: values.report ?? null,
    options: {
      suites: values.suite.split(',').map(suiteName),
      jobs: wholeNumber('--jobs', values.jobs, 10_000_000),
      warmUp: wholeNumber('--warm-up', values['warm-up'], 10_000_000),
      rounds: wholeNumber('--rounds', values.rounds, 1000),
      concurrency: values.concurrency.split(',').map((text) => wholeNumber('--concurrency', text, 10_000)),
      backlog: wholeNumber('--backlog', values.backlog, 100_000_000),
      limitMs: wholeNumber('--limit', values.limit, 3_600_000),
    },
  };
}

function parsed(
  args: readonly string[],
): ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    const [what] = (error instanceof Error ? error.message : String(error)).split(/[.\n]/);
    throw usage(`${what}.`);
  }
}

function isBackend(name: string): name is BackendName {
  return BACKENDS.includes(name as BackendName);
}

function suiteName(text: string): SuiteName {
  const name = SUITE_NAMES.find((each) => each === text);
  if (name === undefined) throw usage(`There is no suite '${text}'.`);
  return name;
}

function wholeNumber(option: string, text: string, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= max) return value;
  throw usage(`${option} takes whole numbers from 1 to ${max}, not '${text}'.`);
}

function usage(what: string): UsageError {
  return new UsageError(`${what} Usage: ${USAGE}`);
}
