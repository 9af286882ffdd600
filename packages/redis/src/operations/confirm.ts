import type { Command } from '../connection.ts';
import type { ResolvedOptions } from '../options.ts';

type Confirm = NonNullable<ResolvedOptions['confirm']>;

/**
 * What is sent behind a script that stored jobs: a command that waits until what this connection wrote is as durable as asked. Where
 * it found a job that was there before, somebody else may have written that: one more write, behind it in the log, is waited for.
 */
export function confirmation(
  { fsync, replicas, withinMs }: Confirm,
  foundKnown: boolean,
  state: string,
): readonly Command[] {
  const wait: Command = fsync ? ['WAITAOF', 1, replicas, withinMs] : ['WAIT', replicas, withinMs];
  return foundKnown ? [['HSET', state, 'confirmed', 1], wait] : [wait];
}

/** Whether the answer to the wait reaches what was asked; an error does not. */
export function isConfirmed({ fsync, replicas }: Confirm, answer: unknown): boolean {
  if (!fsync) return typeof answer === 'number' && answer >= replicas;
  return Array.isArray(answer) && Number(answer[0]) >= 1 && Number(answer[1]) >= replicas;
}
