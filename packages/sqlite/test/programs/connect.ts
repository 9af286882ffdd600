import type { Backend } from '@surety/core/contract';
import { type SqliteOptions, sqlite } from '@surety/sqlite';

/** For child processes of the suite: the same file, opened once more. */
export function connect(args: unknown): Backend {
  return sqlite(args as SqliteOptions);
}
