import { parseArgs } from 'node:util';
import { BACKEND_NAMES, type BackendName, REFUSED_BACKENDS } from './backends.ts';

/** What the command line asks for. `problem`: one line that says what is wrong with it. */
export type Arguments =
  | { readonly kind: 'run'; readonly backend: BackendName }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'problem'; readonly text: string };

const HELP = `npm run demo [-- --backend NAME]

Works real GitHub webhooks in several processes, kills one half way, and accounts for every job.
NAME: ${BACKEND_NAMES.join(', ')}. Default: sqlite.
Exit code: 0 the account adds up, 1 it does not, 2 wrong arguments.`;

/** Reads what follows the script's name. Never throws. */
export function parseArguments(words: readonly string[]): Arguments {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: { backend: { type: 'string', default: 'sqlite' }, help: { type: 'boolean', short: 'h' } },
    });
    return values.help === true ? { kind: 'help', text: HELP } : chosen(values.backend);
  } catch (error) {
    const [firstSentence] = (error instanceof Error ? error.message : String(error)).split(/\. |\n/, 1);
    return { kind: 'problem', text: `${firstSentence}. Try --help.` };
  }
}

function chosen(name: string): Arguments {
  const refusal = REFUSED_BACKENDS.get(name);
  if (refusal !== undefined) return { kind: 'problem', text: `No demo on ${name}: ${refusal}.` };
  const backend = BACKEND_NAMES.find((each) => each === name);
  if (backend !== undefined) return { kind: 'run', backend };
  return { kind: 'problem', text: `No backend '${name}'. There are ${BACKEND_NAMES.join(', ')}.` };
}
