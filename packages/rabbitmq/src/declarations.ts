import type { Names } from './names.ts';
import { MAX_CONSUMER_TIMEOUT_MS } from './options.ts';

type Arguments = Readonly<Record<string, string | number>>;

/** A queue as it is declared. Arguments are constant: they cannot be changed once a queue stands. */
export interface QueueDeclaration {
  readonly name: string;
  readonly arguments: Arguments;
}

/** The largest limit that every version takes; without one 4.x drops a job after 20 returns. */
const NO_LIMIT = 2 ** 31 - 1;

/** Every queue of ours: nothing is dropped, however often it comes back or however long it is held. */
const COMMON: Arguments = Object.freeze({
  'x-queue-type': 'quorum',
  'x-delivery-limit': NO_LIMIT,
  // What at-least-once dead-lettering needs; without a limit on its length no queue ever rejects.
  'x-overflow': 'reject-publish',
  'x-consumer-timeout': MAX_CONSUMER_TIMEOUT_MS,
});

export function deadQueue(names: Names, queue: string): QueueDeclaration {
  return { name: names.dead(queue), arguments: COMMON };
}

/** Its dead target is a net only: Surety itself moves every job by a copy. */
export function readyQueue(names: Names, queue: string): QueueDeclaration {
  return { name: names.ready(queue), arguments: { ...COMMON, ...deadTarget('', names.dead(queue)) } };
}

export function pausedQueue(names: Names, queue: string): QueueDeclaration {
  return { name: names.paused(queue), arguments: COMMON };
}

/** Where jobs of one level of the ladder wait. The broker moves none of them by itself. */
export function delayQueue(names: Names, queue: string, level: number): QueueDeclaration {
  return { name: names.delay(queue, level), arguments: COMMON };
}

export function delaysQueue(names: Names, queue: string): QueueDeclaration {
  return { name: names.delays(queue), arguments: COMMON };
}

function deadTarget(exchange: string, key: string): Arguments {
  return {
    'x-dead-letter-exchange': exchange,
    'x-dead-letter-routing-key': key,
    'x-dead-letter-strategy': 'at-least-once',
  };
}
