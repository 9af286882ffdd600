import { parseArgs } from 'node:util';
import { BACKENDS } from '../private/places.ts';

/** What the command line asks for. */
export type SoakArguments =
  | {
      readonly kind: 'run';
      readonly backend: string;
      readonly jobs: number;
      readonly minutes: number;
      readonly seed: number | null;
      readonly faults: number | null;
      /** Traces and logs are kept. */
      readonly keep: string | null;
    }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'problem'; readonly text: string };

const MAX_SEED = 2 ** 31 - 1;
const HELP = `npm run soak -- [--backend NAME] [--jobs N] [--minutes N] [--seed S] [--faults N] [--keep FOLDER]

Random load and random faults on a server that is started for it; in the end the recorded history is checked.
The seed is printed: with the same arguments it makes the same load and the same plan of faults.
  --backend  ${BACKENDS.join(', ')}; sqlite when left out
  --jobs     how many; 100000 when left out
  --minutes  for how long; 15 when left out
  --faults   how many; 9 a minute when left out
  --keep     where traces and logs stay; a temporary folder when left out, which is removed unless something was found
Exit code: 0 it held, 1 something was found, 2 wrong arguments.`;

/** Reads what follows the script's name. Never throws. */
export function parseSoakArguments(words: readonly string[]): SoakArguments {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: {
        backend: { type: 'string', default: 'sqlite' },
        jobs: { type: 'string', default: '100000' },
        minutes: { type: 'string', default: '15' },
        seed: { type: 'string' },
        faults: { type: 'string' },
        keep: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help === true) return { kind: 'help', text: HELP };
    const { backend } = values;
    if (!BACKENDS.includes(backend)) return problem(`No backend '${backend}'.`);
    const [jobs, minutes] = [Number(values.jobs), Number(values.minutes)];
    if (!(Number.isInteger(jobs) && jobs > 0)) return problem('--jobs takes a whole number.');
    if (!(minutes > 0 && minutes <= 24 * 60)) return problem('--minutes takes a number up to a day.');
    const seed = values.seed === undefined ? null : Number(values.seed);
    if (seed !== null && !(Number.isInteger(seed) && seed > 0 && seed <= MAX_SEED))
      return problem(`--seed takes a whole number from 1 to ${MAX_SEED}.`);
    const faults = values.faults === undefined ? null : Number(values.faults);
    if (faults !== null && !(Number.isInteger(faults) && faults >= 0))
      return problem('--faults takes a whole number.');
    return { kind: 'run', backend, jobs, minutes, seed, faults, keep: values.keep ?? null };
  } catch (error) {
    const [firstSentence = ''] = (error instanceof Error ? error.message : String(error)).split(/\. |\n/, 1);
    return problem(`${firstSentence}.`);
  }
}

function problem(text: string): SoakArguments {
  return { kind: 'problem', text: `${text} Try --help.` };
}
