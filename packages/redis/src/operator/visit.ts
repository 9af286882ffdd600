import type { StoreAddress } from '@surety/core/operator';
import { type Client, makeClient } from '../client.ts';
import { type Connection, createConnection } from '../connection.ts';
import type { Call } from '../deadline.ts';
import { checkDatabase } from '../operations/check-database.ts';
import { resolveOptions } from '../options.ts';
import { optionsOf } from './address.ts';

/** A connection for one visit. */
export interface Visit {
  readonly connection: Connection;
  /** Each server that is written to: one, or the primaries of a cluster. */
  readonly servers: readonly Client[];
  readonly prefix: string;
  readonly call: Call;
}

const FAREWELL_MS = 1000;

/** Connects, asks each server for a sign of life, lets `use` work within the time of the call, and closes. */
export async function visit<T>(
  address: StoreAddress,
  operation: string,
  timeoutMs: number,
  use: (visit: Visit) => Promise<T>,
): Promise<T> {
  const options = resolveOptions(optionsOf(address));
  const connection = createConnection({
    make: () => makeClient(options),
    isCluster: options.isCluster,
    connectTimeoutMs: options.connectTimeoutMs,
    onAnswer: () => undefined,
    onForgotten: () => undefined,
  });
  const call = { operation, deadline: performance.now() + timeoutMs };
  try {
    await connection.command(call, 'EXISTS', `${options.prefix}:queues`);
    const servers = await connection.primaries(call);
    for (const server of servers) await checkDatabase(server, call);
    return await use({ connection, servers, prefix: options.prefix, call });
  } finally {
    await connection.close(FAREWELL_MS);
  }
}
