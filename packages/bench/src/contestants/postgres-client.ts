import pg from 'pg';

/** One connection; the longest statement of a bench fills a table. */
export async function withPostgres<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    query_timeout: 300_000,
  });
  // A connection that breaks rejects the query under way; without a listener it would end the process too.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
