import type { CallOptions, Count, QueueCounts } from '@surety/core/contract';
import { type Context, startCall } from '../context.ts';
import { registryKey } from '../keys.ts';
import { SCRIPTS } from '../script.ts';

/** G5.1, G5.2. */
export async function counts(context: Context, queue: string, options: CallOptions): Promise<QueueCounts> {
  const { keys } = context.queues.of(queue);
  const reply = await context.connection.ask(SCRIPTS.counts, keys.counts, [], startCall('counts', options));
  const [ready = 0, scheduled = 0, leased = 0, dead = 0, oldestMs = -1] = reply as number[];
  const exact = (value: number | null): Count => ({ value, kind: 'exact' });
  return {
    ready: exact(ready),
    scheduled: exact(scheduled),
    leased: exact(leased),
    dead: exact(dead),
    oldestReadyAgeMs: exact(oldestMs < 0 ? null : oldestMs),
  };
}

/** G5.3. The list holds every queue that was ever used; each is asked whether there is anything in it now. */
export async function queues(context: Context, options: CallOptions): Promise<readonly string[]> {
  const call = startCall('queues', options);
  const { connection } = context;
  const names = (await connection.command(call, 'SMEMBERS', registryKey(context.options.prefix))) as string[];
  const known = await Promise.all(
    names.map((queue) => connection.ask(SCRIPTS.isKnown, context.queues.of(queue).keys.isKnown, [], call)),
  );
  return names.filter((_, index) => known[index] === 1).sort();
}
