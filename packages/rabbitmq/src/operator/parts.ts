import { deadQueue, delayQueue, delaysQueue, type QueueDeclaration, readyQueue } from '../declarations.ts';
import { LEVELS } from '../ladder.ts';
import type { Names } from '../names.ts';
import { LADDER_PARTS } from '../topology.ts';

/** Things of the broker, each durable. */
export interface Parts {
  readonly queues: readonly QueueDeclaration[];
  /** Each of the type fanout, and bound to nothing for good. */
  readonly exchanges: readonly string[];
}

/** What all queues share. */
export function sharedParts(names: Names): Parts {
  return { queues: [], exchanges: [names.control] };
}

/** All that one queue ever needs, delays of up to a year included; a pause is made by who pauses. */
export function partsOf(names: Names, queue: string): Parts {
  const levels = Array.from({ length: LEVELS }, (_, level) => delayQueue(names, queue, level));
  return {
    queues: [deadQueue(names, queue), readyQueue(names, queue), delaysQueue(names, queue), ...levels],
    // Their being there says that the queues are old enough to be relied on.
    exchanges: [...LADDER_PARTS.map((top) => names.delay(queue, top)), names.mark(queue)],
  };
}

/** In the form that `rabbitmqctl import_definitions` and the setting `load_definitions` take. What is there already stays as it is. */
export function definitionsOf(parts: readonly Parts[], vhost: string): string {
  const common = { vhost, durable: true, auto_delete: false };
  const queues = parts.flatMap((each) => each.queues);
  const exchanges = parts.flatMap((each) => each.exchanges);
  const definitions = {
    queues: queues.map((queue) => ({ name: queue.name, ...common, arguments: queue.arguments })),
    exchanges: exchanges.map((name) => ({ name, ...common, type: 'fanout', internal: false, arguments: {} })),
  };
  return `${JSON.stringify(definitions, null, 2)}\n`;
}
