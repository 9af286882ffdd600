import { createHash } from 'node:crypto';
import { scripts } from './generated/scripts.ts';

/** A script and the name by which the server knows it once it has run. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** Every script of the adapter. */
export const SCRIPTS: Readonly<Record<keyof typeof scripts, Script>> = Object.freeze(
  Object.fromEntries(
    Object.entries(scripts).map(([name, text]) => [
      name,
      Object.freeze({ text, sha: createHash('sha1').update(text).digest('hex') }),
    ]),
  ) as Record<keyof typeof scripts, Script>,
);
