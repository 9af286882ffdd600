import { startRabbitmq } from '@surety/testbed';
import type { Place } from '../stage/place.ts';
import { connectOf } from './connect.ts';
import { openRoad, through } from './open-road.ts';

/** A broker of its own. */
export async function rabbitmqPlace(): Promise<Place> {
  const server = await startRabbitmq();
  const at = (url: string): Place['connect'] => connectOf({ adapter: 'rabbitmq', options: { url } });
  return {
    backend: 'rabbitmq',
    where: `RabbitMQ ${server.version} on port ${server.port}`,
    connect: at(server.url),
    server,
    road: () => openRoad(server, (host, port) => at(through(server.url, host, port))),
    [Symbol.asyncDispose]: () => server.destroy(),
  };
}
