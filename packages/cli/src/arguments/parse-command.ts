import { parseArgs } from 'node:util';
import type { Command, Invocation } from '../command.ts';
import { UsageError } from '../exit-codes.ts';

/** What was typed, before options are looked at. */
export interface Typed {
  /** Null: no command was named. */
  readonly command: Command | null;
  /** The first words, where they are no command. */
  readonly unknown: string | null;
  /** All but the name of the command. */
  readonly rest: readonly string[];
  readonly help: boolean;
  readonly version: boolean;
}

/** Options with a value that may stand before the command. */
const VALUED = new Set(['--url', '--namespace', '--timeout']);
const LONGEST_NAME = 2;

/** Finds the command: its name are the first words that are no options. */
export function findCommand(argv: readonly string[], commands: readonly Command[]): Typed {
  const help = beforeDashes(argv).some((word) => word === '--help' || word === '-h') || argv[0] === 'help';
  const places = wordPlaces(argv[0] === 'help' ? argv.with(0, '--help') : argv);
  for (let length = LONGEST_NAME; length > 0; length -= 1) {
    const taken = places.slice(0, length);
    const name = taken.map((place) => argv[place]).join(' ');
    const command = commands.find((each) => each.name === name);
    if (command === undefined || taken.length < length) continue;
    const rest = argv.filter((_, place) => !taken.includes(place));
    return { command, unknown: null, rest, help, version: false };
  }
  const [first] = places;
  return {
    command: null,
    unknown: first === undefined ? null : (argv[first] ?? null),
    rest: argv,
    help,
    version: argv.includes('--version') || argv.includes('-V'),
  };
}

/** Checks options and words of a command. Throws UsageError. */
export function parseCommand(
  command: Command,
  rest: readonly string[],
): Pick<Invocation, 'words' | 'values'> {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, { type, short }]) => [
      name,
      { type, ...(short === undefined ? {} : { short }) },
    ]),
  );
  const { values, positionals } = attempt(() =>
    parseArgs({ args: [...rest], options, allowPositionals: true, strict: true }),
  );
  const { min, max } = command.words;
  if (positionals.length < min) throw new UsageError(`${command.name} needs ${command.takes}.`);
  if (positionals.length > max) {
    const takes = command.takes === '' ? 'takes no words' : `takes ${command.takes}`;
    throw new UsageError(`${command.name} ${takes} beside its options.`);
  }
  return { words: positionals, values: values as Invocation['values'] };
}

function attempt<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    // Node goes on with advice of its own after the first sentence.
    const [first = ''] = said.split(/\. |\n/, 1);
    throw new UsageError(`${first.replace(/\.$/, '')}.`, { cause: error });
  }
}

function beforeDashes(argv: readonly string[]): readonly string[] {
  const dashes = argv.indexOf('--');
  return dashes < 0 ? argv : argv.slice(0, dashes);
}

function wordPlaces(argv: readonly string[]): readonly number[] {
  const places: number[] = [];
  for (let place = 0; place < argv.length; place += 1) {
    const word = argv[place] ?? '';
    if (word === '--') break;
    if (VALUED.has(word)) place += 1;
    else if (!word.startsWith('-')) places.push(place);
  }
  return places;
}
