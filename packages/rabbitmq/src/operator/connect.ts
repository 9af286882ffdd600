import type { Backend } from '@surety/core/contract';
import { type RabbitmqOptions, rabbitmq } from '../index.ts';
import { noting } from './trial-queues.ts';

/** For other processes of a trial: its queues, opened once more, and noted so that they can be removed. */
export function connect(args: { readonly options: RabbitmqOptions; readonly file: string }): Backend {
  return noting(rabbitmq(args.options), args.file);
}
