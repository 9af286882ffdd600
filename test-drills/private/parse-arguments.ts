import { parseArgs } from 'node:util';
import { DRILLS, drillsNamed } from '../drills.ts';
import type { Drill } from '../stage/drill.ts';
import { BACKENDS } from './places.ts';

/** What the command line asks for. `problem`: one line that says what is wrong with it. */
export type Arguments =
  | {
      readonly kind: 'run';
      readonly drills: readonly Drill[];
      readonly backends: readonly string[];
      readonly seed: number | null;
      readonly quick: boolean;
      readonly realTime: boolean;
    }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'problem'; readonly text: string };

const MAX_SEED = 2 ** 31 - 1;

function help(): string {
  return `npm run drill -- NAME|all [--backend NAME|all] [--seed S] [--quick] [--real-time]

Runs failure drills on servers that are started for them. A drill of a user's own store: npx surety drill.
Drills:
${DRILLS.map(({ name, summary }) => `  ${name.padEnd(18)} ${summary}`).join('\n')}
Backends: ${BACKENDS.join(', ')}; sqlite when left out.
Exit code: 0 everything held, 1 something did not, 2 wrong arguments or nothing to run.`;
}

/** Reads what follows the script's name. Never throws. */
export function parseArguments(words: readonly string[]): Arguments {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        backend: { type: 'string', default: 'sqlite' },
        seed: { type: 'string' },
        quick: { type: 'boolean', default: false },
        'real-time': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help === true) return { kind: 'help', text: help() };
    const [name, ...more] = positionals;
    const drills = name === undefined || more.length > 0 ? null : drillsNamed(name);
    if (drills === null) return problem('Name one drill, or all.');
    const backends = values.backend === 'all' ? BACKENDS : [values.backend];
    if (!backends.every((each) => BACKENDS.includes(each))) return problem(`No backend '${values.backend}'.`);
    const seed = values.seed === undefined ? null : Number(values.seed);
    if (seed !== null && !(Number.isInteger(seed) && seed > 0 && seed <= MAX_SEED))
      return problem(`--seed takes a whole number from 1 to ${MAX_SEED}.`);
    return { kind: 'run', drills, backends, seed, quick: values.quick, realTime: values['real-time'] };
  } catch (error) {
    const [firstSentence = ''] = (error instanceof Error ? error.message : String(error)).split(/\. |\n/, 1);
    return problem(`${firstSentence}.`);
  }
}

function problem(text: string): Arguments {
  return { kind: 'problem', text: `${text} Try --help.` };
}
