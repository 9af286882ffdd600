import type { Finding } from '@surety/core/operator';
import {
  deadQueue,
  delayQueue,
  delaysQueue,
  pausedQueue,
  type QueueDeclaration,
  readyQueue,
} from '../declarations.ts';
import { LEVELS, waitOf } from '../ladder.ts';
import { fromNative } from '../native-errors.ts';
import { answered, onChannel } from '../wire/open-wire.ts';
import { failed, note, ok, problem } from './findings.ts';
import { exists, type Visit } from './visit.ts';

const MAKE = 'Run `surety migrate` with the queue in the URL (?queues=NAME), or let an application make it.';

/** The exchange that all queues share. Without it nothing can be opened. */
export async function checkShared(visit: Visit): Promise<readonly Finding[]> {
  const { control } = visit.names;
  if (await exists(visit, 'exchange', control)) {
    return [ok('schema', `the exchange ${control} is there, and what is named is up to date`)];
  }
  return [problem('schema', `the exchange ${control} is missing`, 'Run `surety migrate`.')];
}

/** One job queue: what is there of it, and that nobody declared it otherwise. */
export async function checkQueue(visit: Visit, queue: string): Promise<readonly Finding[]> {
  const { names } = visit;
  const check = `queue ${queue}`;
  const base = [readyQueue(names, queue), deadQueue(names, queue)];
  const there: QueueDeclaration[] = [];
  for (const each of base) if (await exists(visit, 'queue', each.name)) there.push(each);
  if (there.length === 0) return [note(check, 'is not there yet', MAKE)];
  if (there.length < base.length) {
    const missing = base.filter((each) => !there.includes(each)).map(({ name }) => name);
    return [problem(check, `${missing.join(' and ')} is missing`, MAKE)];
  }
  if (await exists(visit, 'queue', names.paused(queue))) there.push(pausedQueue(names, queue));
  if (await exists(visit, 'queue', names.delays(queue))) there.push(delaysQueue(names, queue));
  let levels = 0;
  while (levels < LEVELS && (await exists(visit, 'queue', names.delay(queue, levels)))) {
    there.push(delayQueue(names, queue, levels));
    levels += 1;
  }
  const found = await compare(visit, check, there);
  return found.length > 0 ? found : [ok(check, `is as it should be, with ${delaysOf(levels)}`)];
}

/** The longest delay that fits into so many levels. */
function delaysOf(levels: number): string {
  if (levels === 0) return 'no delays so far';
  const seconds = waitOf(levels) / 1000;
  const [amount, unit] =
    seconds < 120
      ? [seconds, 's']
      : seconds < 7200
        ? [seconds / 60, 'min']
        : seconds < 172_800
          ? [seconds / 3600, 'h']
          : [seconds / 86_400, 'days'];
  const rest = levels < LEVELS ? '; levels of longer ones are made when they are needed' : '';
  return `delays of up to ${Math.floor(amount)} ${unit}${rest}`;
}

/** Declaring what is there with the same arguments changes nothing; with others the broker says which differ. */
async function compare(
  { wire, call }: Visit,
  check: string,
  queues: readonly QueueDeclaration[],
): Promise<readonly Finding[]> {
  for (const { name, arguments: given } of queues) {
    try {
      const declaring = onChannel(wire, (channel) =>
        channel.assertQueue(name, { durable: true, arguments: given }),
      );
      await answered(wire, call, declaring);
    } catch (native) {
      const error = fromNative(native, call.operation);
      if (error.code !== 'PERMISSION_DENIED') return [failed(check, error)];
      return [
        note(
          check,
          'is there; this user may not declare, so that its arguments were not compared',
          'Look once with a user that has the rights to configure.',
        ),
      ];
    }
  }
  return [];
}
