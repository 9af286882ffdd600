import type { Backend } from '@surety/core/contract';
import { type SqsOptions, sqs } from '../../src/index.ts';

/** Opens the same store from a process that the suite may kill. */
export function connect(args: unknown): Backend {
  return sqs(args as SqsOptions);
}
