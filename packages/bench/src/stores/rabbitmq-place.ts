/** Where a contestant works: the broker, and what the names of its queues begin with. */
export interface RabbitmqPlace {
  readonly url: string;
  readonly prefix: string;
}

/** More levels than jobs of a bench are ever delayed by. */
const LEVELS = 17;

export function rabbitmqPlace(url: string, prefix: string): string {
  return `${url}#${prefix}`;
}

export function placeOf(location: string): RabbitmqPlace {
  const [url = '', prefix = ''] = location.split('#');
  return { url, prefix };
}

export function plainQueue(prefix: string): string {
  return `${prefix}.plain`;
}

/** Of Surety: ready, dead and delayed jobs of the queue `bench`. */
export function suretyQueues(prefix: string): readonly string[] {
  const delays = Array.from({ length: LEVELS }, (_, level) => `${prefix}.bench.delay.${level}`);
  return [`${prefix}.bench`, `${prefix}.bench.dead`, ...delays];
}

/** Of all contestants. */
export function queuesOf(prefix: string): readonly string[] {
  return [plainQueue(prefix), ...suretyQueues(prefix)];
}
