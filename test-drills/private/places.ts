import type { Place } from '../stage/place.ts';

/** Places of their own for this repository, which can start servers. Each is loaded when it is asked for. */
const PLACES: Readonly<Record<string, (seed: number) => Promise<Place>>> = {
  sqlite: async () => (await import('./sqlite-place.ts')).sqlitePlace(),
  postgres: async () => (await import('./postgres-place.ts')).postgresPlace(),
  redis: async () => (await import('./redis-place.ts')).redisPlace(),
  rabbitmq: async () => (await import('./rabbitmq-place.ts')).rabbitmqPlace(),
  sqs: async (seed) => (await import('./sqs-place.ts')).sqsPlace(seed),
};

/** Names of the backends. */
export const BACKENDS: readonly string[] = Object.keys(PLACES);

/** A place on a server that is started now and ends with the place. */
export async function privatePlace(backend: string, seed: number): Promise<Place> {
  const open = PLACES[backend];
  if (open === undefined) throw new Error(`no backend ${backend}; there are ${BACKENDS.join(', ')}`);
  return open(seed);
}
