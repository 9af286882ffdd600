import pg from 'pg';
import type { Observer } from './observer.ts';

/** `table` is a qualified name as SQL has it; one row is one job. */
export async function observePostgresTable(url: string, table: string): Promise<Observer> {
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
        `select not exists (select from ${table}) as empty`,
      );
      return rows[0]?.empty === true;
    },
    async jobsLeft() {
      const { rows } = await client.query<{ jobs: string }>(`select count(*) as jobs from ${table}`);
      return Number(rows[0]?.jobs);
    },
    close: () => client.end(),
  };
}
