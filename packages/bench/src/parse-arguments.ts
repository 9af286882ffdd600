import { parseArgs } from 'node:util';
import { BACKENDS, type BackendName } from './contestants/registry.ts';
import type { SuiteOptions } from './suites/suite.ts';

export interface BenchArguments {
  readonly backend: BackendName;
  readonly options: SuiteOptions;
}

/** What the command was given cannot be done. The message is one line. */
export class UsageError extends Error {}

const USAGE = `bench <${BACKENDS.join('|')}> [--jobs 20000] [--rounds 3] [--concurrency 1,10,100]`;
const OPTIONS = {
  jobs: { type: 'string', default: '20000' },
  rounds: { type: 'string', default: '3' },
  concurrency: { type: 'string', default: '1,10,100' },
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
    options: {
      jobs: wholeNumber('--jobs', values.jobs, 10_000_000),
      rounds: wholeNumber('--rounds', values.rounds, 1000),
      concurrency: values.concurrency.split(',').map((text) => wholeNumber('--concurrency', text, 10_000)),
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

function wholeNumber(option: string, text: string, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= max) return value;
  throw usage(`${option} takes whole numbers from 1 to ${max}, not '${text}'.`);
}

function usage(what: string): UsageError {
  return new UsageError(`${what} Usage: ${USAGE}`);
}
