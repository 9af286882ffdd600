import { parseArgs } from 'node:util';
import type { StoreAddress } from '@surety/core/operator';
import type { StoreName } from './stores.ts';

/** What the command line asks for. `problem`: one line that says what is wrong with it. */
export type Arguments =
  | { readonly kind: 'run'; readonly backend: StoreName; readonly address: StoreAddress | null }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'problem'; readonly text: string };

/** Those that need no URL. */
const BACKENDS: readonly StoreName[] = ['sqlite', 'postgres', 'redis', 'rabbitmq', 'sqs'];

/** Adapters that the demo cannot run on, and why. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['memory', 'its jobs live inside one process, and the demo kills processes'],
]);

const HELP = `npm run demo [-- --backend NAME | --url URL]

Works real GitHub webhooks in several processes, kills one half way, and accounts for every job.
NAME: ${BACKENDS.join(', ')}. Default: sqlite, in the folder surety-demo. The others start a server of their own.
URL: a store with Surety's schema, where the jobs get a queue of their own.
Exit code: 0 the account adds up, 1 it does not, 2 wrong arguments.`;

/** Reads what follows the script's name. Never throws. */
export function parseArguments(words: readonly string[]): Arguments {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: {
        backend: { type: 'string', default: 'sqlite' },
        url: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    return values.help === true ? { kind: 'help', text: HELP } : chosen(values.backend, values.url);
  } catch (error) {
    const [firstSentence] = (error instanceof Error ? error.message : String(error)).split(/\. |\n/, 1);
    return { kind: 'problem', text: `${firstSentence}. Try --help.` };
  }
}

function chosen(name: string, url: string | undefined): Arguments {
  const refusal = REFUSED.get(name);
  if (refusal !== undefined) return { kind: 'problem', text: `No demo on ${name}: ${refusal}.` };
  const backend = BACKENDS.find((each) => each === name);
  const address = url === undefined ? null : { url, namespace: null };
  if (backend !== undefined) return { kind: 'run', backend, address };
  return { kind: 'problem', text: `No backend '${name}'. There are ${BACKENDS.join(', ')}.` };
}
