import { createInterface } from 'node:readline/promises';
import { UsageError } from '../exit-codes.ts';

/** Streams of a question. */
export interface Asking {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

const PROCESS: Asking = { input: process.stdin, output: process.stderr };

/** Throws UsageError where a question could not be asked and `--yes` does not answer it. To be called before anything is done. */
export function requireAnswer(yes: boolean, what: string, { input, output }: Asking = PROCESS): void {
  if (yes || (input.isTTY === true && output.isTTY === true)) return;
  throw new UsageError(`${what} asks for confirmation, and there is no terminal to ask on: add --yes.`);
}

/** Asks; only y or yes agrees. The end of the input declines. */
export async function confirm(question: string, yes: boolean, asking: Asking = PROCESS): Promise<boolean> {
  if (yes) return true;
  const dialogue = createInterface(asking);
  try {
    const answer = await new Promise<string>((resolve, reject) => {
      dialogue.once('close', () => resolve(''));
      dialogue.question(`${question} [y/N] `).then(resolve, reject);
    });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    dialogue.close();
  }
}
