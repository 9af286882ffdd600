/** What the queues and exchanges of one backend are called. No queue name has a dot, so none can be taken for another. */
export interface Names {
  /** Where ready jobs stand. */
  ready(queue: string): string;
  dead(queue: string): string;
  /** Exists while the queue is paused. */
  paused(queue: string): string;
  /** Exists while somebody looks through the dead letters; belongs to that one's connection. */
  deadLock(queue: string): string;
  /** An exchange that exists once the queue is old enough to be relied on. */
  mark(queue: string): string;
  /** One level of the delay ladder; the exchange of that name exists once it and all below it are old enough to be relied on. */
  delay(queue: string, level: number): string;
  /** Is listened to by the process that moves the delayed jobs, and always empty. */
  delays(queue: string): string;
  /** The exchange that tells every process of a pause. */
  readonly control: string;
}

export function namesOf(prefix: string): Names {
  // Asked for with each message, most of which go to the queue of the one before: then it is the very same text.
  let last = { queue: '', ready: '' };
  return {
    ready(queue) {
      if (last.queue !== queue) last = { queue, ready: `${prefix}.${queue}` };
      return last.ready;
    },
    dead: (queue) => `${prefix}.${queue}.dead`,
    paused: (queue) => `${prefix}.${queue}.paused`,
    deadLock: (queue) => `${prefix}.${queue}.dead.lock`,
    mark: (queue) => `${prefix}.${queue}`,
    delay: (queue, level) => `${prefix}.${queue}.delay.${level}`,
    delays: (queue) => `${prefix}.${queue}.delay`,
    control: `${prefix}.control`,
  };
}
