import type { PostgresServer } from './postgres/postgres-server.ts';
import type { SharedPostgres } from './postgres/shared-postgres.ts';
import { startPostgres } from './postgres/start-postgres.ts';
import { type SharedBrokers, shareBrokers } from './sharing/share-brokers.ts';

let brokers: SharedBrokers | undefined;
let postgres: Promise<PostgresServer> | undefined;

/**
 * For `globalSetup` in a vitest configuration. Starts nothing but an offer: the workers inherit its address in the
 * environment, and a broker starts when the first of them asks (`sharedPostgres`). Where the environment already has an
 * offer, of another project of the same run or of a script around it, that one is used.
 */
export async function setup(): Promise<void> {
  if (process.env['SURETY_TESTBED_SOCKET'] !== undefined) return;
  brokers = await shareBrokers({
    async postgres(): Promise<SharedPostgres> {
      postgres = startPostgres();
      const { url, adminUrl, version } = await postgres;
      return { url, adminUrl, version };
    },
  });
  process.env['SURETY_TESTBED_SOCKET'] = brokers.socketPath;
}

export async function teardown(): Promise<void> {
  if (brokers === undefined) return;
  delete process.env['SURETY_TESTBED_SOCKET'];
  await brokers.close();
  brokers = undefined;
  // A server that failed to start was reported to whoever asked for it.
  const server = await postgres?.catch(() => undefined);
  await server?.destroy();
}
