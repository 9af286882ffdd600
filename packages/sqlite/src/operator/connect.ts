import type { Backend } from '@surety/core/contract';
import { sqlite } from '../index.ts';

/** For other processes of a trial: its file, opened once more. */
export function connect(args: { readonly file: string }): Backend {
  return sqlite(args.file);
}
