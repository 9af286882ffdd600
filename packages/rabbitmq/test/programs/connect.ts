import type { Backend } from '@surety/core/contract';
import { type RabbitmqOptions, rabbitmq } from '../../src/index.ts';

/** Opens the same store from a process that the suite may kill. */
export function connect(args: unknown): Backend {
  return rabbitmq(args as RabbitmqOptions);
}
