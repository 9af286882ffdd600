import { startRedis } from '@surety/testbed';
import type { Place } from '../stage/place.ts';
import { connectOf } from './connect.ts';
import { openRoad, through } from './open-road.ts';

/** A server of its own, that no other program's disk keeps from writing its log: see `dataIn`. */
export async function redisPlace(): Promise<Place> {
  const server = await startRedis({ dataIn: 'memory' });
  const at = (url: string): Place['connect'] => connectOf({ adapter: 'redis', options: { connection: url } });
  return {
    backend: 'redis',
    where: `${server.product} ${server.version} on port ${server.port}`,
    connect: at(server.url),
    server,
    road: () => openRoad(server, (host, port) => at(through(server.url, host, port))),
    [Symbol.asyncDispose]: () => server.destroy(),
  };
}
