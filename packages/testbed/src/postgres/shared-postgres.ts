import { askForBroker } from '../sharing/ask-for-broker.ts';
import { openAccess, type Urls } from './databases.ts';
import type { PostgresAccess } from './postgres-server.ts';
import { startPostgres } from './start-postgres.ts';

/** What goes from the owner of the shared server to those who ask for it. */
export interface SharedPostgres extends Urls {
  readonly version: string;
}

let access: Promise<PostgresAccess> | undefined;

/**
 * The server that all test files of a run share: make a database of your own on it with `createDatabase`, and drop it in
 * the end (on a private server that only saves space, on an external one it would stay). The server cannot be stopped or
 * killed from here, since others use it: for that, start one of your own.
 *
 * With `vitest-global-setup.ts` in the vitest configuration it belongs to vitest's main process and starts when the first
 * test file asks. Without, every process that asks gets one of its own.
 */
export function sharedPostgres(): Promise<PostgresAccess> {
  access ??= openShared();
  return access;
}

async function openShared(): Promise<PostgresAccess> {
  const socketPath = process.env['SURETY_TESTBED_SOCKET'];
  if (socketPath === undefined) return startPostgres();
  const shared = (await askForBroker(socketPath, 'postgres')) as SharedPostgres;
  return openAccess({ url: shared.url, adminUrl: shared.adminUrl }, shared.version);
}
