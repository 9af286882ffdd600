import { QUEUE_NAME } from '@surety/core/contract';

/** The three queues of SQS that hold the jobs of one queue. Names of queues have no capitals, so that no name can be taken for another. */
export interface QueueNames {
  readonly ready: string;
  /** Where jobs wait that are due in more than 15 minutes. */
  readonly delay: string;
  readonly dead: string;
}

export function namesOf(prefix: string, queue: string): QueueNames {
  const ready = `${prefix}-${queue}`;
  return { ready, delay: `${ready}-DELAY`, dead: `${ready}-DEAD` };
}

/** The queue whose ready jobs a queue of SQS holds, from its URL; null: it is none of ours. */
export function queueIn(prefix: string, url: string): string | null {
  const name = url.slice(url.lastIndexOf('/') + 1);
  const queue = name.startsWith(`${prefix}-`) ? name.slice(prefix.length + 1) : '';
  return QUEUE_NAME.test(queue) ? queue : null;
}
