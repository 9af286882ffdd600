import { startPostgres } from '@surety/testbed';
import type { Place } from '../stage/place.ts';
import { connectOf } from './connect.ts';
import { openRoad, through } from './open-road.ts';

/** A server of its own; one that is named in the environment may not allow to be ended. */
export async function postgresPlace(): Promise<Place> {
  const server = await startPostgres();
  const url = await server.createDatabase();
  const at = (address: string): Place['connect'] =>
    connectOf({ adapter: 'postgres', options: { url: address } });
  const { restart, kill, pause } = server.can;
  return {
    backend: 'postgres',
    where: `PostgreSQL ${server.version} on port ${server.port}`,
    connect: at(url),
    server: restart && kill && pause ? server : null,
    road: () => openRoad(server, (host, port) => at(through(url, host, port))),
    [Symbol.asyncDispose]: () => server.destroy(),
  };
}
