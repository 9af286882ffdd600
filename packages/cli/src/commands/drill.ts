import { SuretyError } from '@surety/core/errors';
import type * as published from '@surety/drills';
import { STORE_OPTIONS } from '../arguments/store-options.ts';
import { flag, text, whole } from '../arguments/values.ts';
import type { Command, Invocation } from '../command.ts';
import { UsageError } from '../exit-codes.ts';
import { type NamedStore, withNamedStore } from '../stores/open-store.ts';
import { removeOnSignal } from './drill-interruption.ts';

type Drills = typeof published;

const DEFAULT_REPORTS = 'reports/drills';
const MAX_SEED = 2 ** 31 - 1;

/** `surety drill`. */
export const drill: Command = {
  name: 'drill',
  summary:
    'Kills workers, delivers twice, feeds poison, stops for an hour: on your own store, with a verdict',
  takes: 'NAME|all',
  words: { min: 1, max: 1 },
  options: {
    seed: { type: 'string', value: 'N', help: 'the seed of an earlier run, to repeat it' },
    quick: { type: 'boolean', help: 'a small form of each drill' },
    'real-time': { type: 'boolean', help: 'an hour takes an hour; compressed otherwise' },
    reports: { type: 'string', value: 'DIR', help: `where <name>-<backend>.json goes; ${DEFAULT_REPORTS}` },
    ...STORE_OPTIONS,
  },
  details: [
    'Runs in a place of its own in the store (a schema on PostgreSQL, a prefix on Redis, RabbitMQ and SQS, a folder beside',
    'a SQLite file), in queues that nobody had before; the place is removed at the end, also after Ctrl-C. Only processes that',
    'the drill started are killed. Drills that have to stop the server or to cut its network say so and are not run.',
    'Exit code 1: something that must hold did not. 2: nothing could be run.',
  ],
  examples: [
    ['surety drill kill-worker --url postgres://app@staging/app', 'workers are killed at the worst moments'],
    ['surety drill all --quick', 'everything that needs no control of the server, in a few minutes'],
    ['surety drill stop-an-hour --real-time', 'takes almost two hours'],
  ],
  run: async (invocation) => {
    const { words, values } = invocation;
    const drills = await load();
    const named = drills.drillsNamed(words[0] ?? '');
    if (named === null) throw new UsageError(`There is no such drill. There are: ${namesOf(drills)}.`);
    const seed = text(values, 'seed') === null ? null : whole(values, 'seed', 1, 1, MAX_SEED);
    return withNamedStore(invocation, (store) => runIn(store, drills, named, seed, invocation));
  },
};

async function runIn(
  { operator, address, call }: NamedStore,
  { placeIn, runDrills, exitCodeOf }: Drills,
  named: readonly published.Drill[],
  seed: number | null,
  { values, output }: Invocation,
): Promise<number> {
  await using interruption = removeOnSignal(output);
  await using place = await placeIn(operator, address, call);
  output.aside(`In ${place.where}, which is removed at the end.`);
  try {
    const result = await runDrills({
      drills: named,
      place,
      seed,
      quick: flag(values, 'quick'),
      realTime: flag(values, 'real-time'),
      reports: text(values, 'reports') ?? DEFAULT_REPORTS,
      output: output.stream,
      signal: interruption.signal,
    });
    return exitCodeOf(result);
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    return interruption.exitCode;
  }
}

function namesOf({ DRILLS }: Drills): string {
  return ['all', ...DRILLS.map(({ name }) => name)].join(', ');
}

async function load(): Promise<Drills> {
  try {
    return await import('@surety/drills');
  } catch (cause) {
    if ((cause as { readonly code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new SuretyError(
      'OPTIONS_INVALID',
      'The drills are a package of their own, which is not installed.',
      {
        remedy: 'Run: npm install @surety/drills',
        cause,
      },
    );
  }
}
