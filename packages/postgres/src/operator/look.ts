import type { StoreAddress } from '@surety/core/operator';
import { type Connections, createConnections, type Row } from '../connection.ts';
import type { Call } from '../deadline.ts';
import { bindStatements, type Sql } from '../sql.ts';
import { lookingOptions } from './address.ts';

/** What a check works with. */
export interface Look {
  readonly schema: string;
  readonly clientVersion: string;
  readonly longTransactionMs: number;
  readonly ask: (statement: keyof Sql, values: readonly unknown[]) => Promise<readonly Row[]>;
}

/** Connections for one visit. */
export interface Visit {
  readonly connections: Connections;
  readonly sql: Sql;
  readonly schema: string;
  readonly call: Call;
}

const FAREWELL_MS = 1000;

/** Connects, lets `use` work within the time of the call, and closes. Connects by the first statement. */
export async function visit<T>(
  address: StoreAddress,
  operation: string,
  timeoutMs: number,
  use: (visit: Visit) => Promise<T>,
): Promise<T> {
  const options = lookingOptions(address);
  const connections = createConnections(options, () => undefined);
  const call = { operation, deadline: performance.now() + timeoutMs };
  try {
    return await use({ connections, sql: bindStatements(options.schema), schema: options.schema, call });
  } finally {
    await connections.close(FAREWELL_MS);
  }
}
