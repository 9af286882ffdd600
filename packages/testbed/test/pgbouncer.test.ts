import { sharedPostgres, startPgBouncer } from '@surety/testbed';
import pg from 'pg';
import { expect, test } from 'vitest';

test('the pooler is in transaction mode: more clients than connections, and each transaction on any of them', async () => {
  const server = await sharedPostgres();
  const database = await server.createDatabase();
  const clients: pg.Client[] = [];
  try {
    await using pooler = await startPgBouncer(database, { poolSize: 2 });
    expect(pooler.version).toMatch(/^\d+\.\d+/);
    for (let count = 0; count < 8; count++) {
      const client = new pg.Client({ connectionString: pooler.url });
      client.on('error', () => undefined);
      clients.push(client);
      await client.connect();
    }
    const pidOf = async (client: pg.Client): Promise<number> => {
      const { rows } = await client.query<{ pid: number }>(
        'select pg_backend_pid() as pid from pg_sleep(0.05)',
      );
      return rows[0]?.pid ?? 0;
    };
    const pids = new Set(await Promise.all(clients.map(pidOf)));
    expect(pids.size).toBe(2);
    await Promise.all(clients.map((client) => client.end()));
  } finally {
    await server.dropDatabase(database);
  }
});
