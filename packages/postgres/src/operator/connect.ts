import type { Backend } from '@surety/core/contract';
import { type PostgresOptions, postgres } from '../index.ts';

/** For other processes of a trial: its schema, opened once more. */
export function connect(args: PostgresOptions): Backend {
  return postgres(args);
}
