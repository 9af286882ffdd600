import type { Backend } from '@surety/core/contract';
import { type SqsOptions, sqs } from '../index.ts';

/** For other processes of a trial: its queues, opened once more. */
export function connect(args: SqsOptions): Backend {
  return sqs(args);
}
