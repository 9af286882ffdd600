import type { Values } from '../connection.ts';
import type { ResolvedOptions } from '../options.ts';

type Confirm = NonNullable<ResolvedOptions['confirm']>;

/** The command that waits until what this connection wrote is as durable as asked. */
export function waitFor({ fsync, replicas, withinMs }: Confirm): readonly [name: string, ...values: Values] {
  return fsync ? ['WAITAOF', 1, replicas, withinMs] : ['WAIT', replicas, withinMs];
}

/** Whether its answer reaches what was asked; an error of it does not. */
export function isConfirmed({ fsync, replicas }: Confirm, answer: unknown): boolean {
  if (!fsync) return typeof answer === 'number' && answer >= replicas;
  return Array.isArray(answer) && Number(answer[0]) >= 1 && Number(answer[1]) >= replicas;
}
