import pg from 'pg';
import type { Observer } from './observer.ts';

export interface ObservedTable {
  /** A qualified name as SQL has it. */
  readonly table: string;
  /** Which rows are jobs that have not ended, as a condition. */
  readonly live: string;
}

export async function observePostgresTable(url: string, { table, live }: ObservedTable): Promise<Observer> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    query_timeout: 60_000,
  });
  // A connection that breaks rejects the query under way; without a listener it would end the process too.
  client.on('error', () => undefined);
  await client.connect();
  return {
    async isEmpty() {
      const { rows } = await client.query<{ empty: boolean }>(
        `select not exists (select from ${table} where ${live}) as empty`,
      );
      return rows[0]?.empty === true;
    },
    async jobsLeft() {
      const { rows } = await client.query<{ jobs: string }>(
        `select count(*) as jobs from ${table} where ${live}`,
      );
      return Number(rows[0]?.jobs);
    },
    close: () => client.end(),
  };
}
