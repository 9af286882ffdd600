import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { PostgresAccess } from './postgres-server.ts';

export interface Urls {
  readonly url: string;
  readonly adminUrl: string;
}

/** Passwords, since on loopback every user of the machine could otherwise become superuser and run programs as us. */
export function loopbackUrls(port: number): Urls {
  const secret = (): string => randomBytes(12).toString('hex');
  return {
    adminUrl: `postgres://postgres:${secret()}@127.0.0.1:${port}/postgres`,
    url: `postgres://surety:${secret()}@127.0.0.1:${port}/surety`,
  };
}

/** Access to a running server whose roles exist. Keeps no connection open, so that it never stands in a test's way. */
export function openAccess(urls: Urls, version: string): PostgresAccess {
  const { hostname, port } = new URL(urls.adminUrl);
  return {
    ...urls,
    version,
    host: hostname,
    port: Number(port || 5432),
    async createDatabase(name = `surety_${randomBytes(6).toString('hex')}`) {
      await createOwnedDatabase(urls, name);
      return withDatabase(urls.url, name);
    },
    async dropDatabase(nameOrUrl) {
      const name = nameOrUrl.includes('://') ? databaseOf(nameOrUrl) : nameOrUrl;
      await withAdmin(urls.adminUrl, (admin) =>
        admin.query(`drop database if exists ${quoted(name)} with (force)`),
      );
    },
  };
}

/** Makes the role and the database of `urls.url`, for a server that has nothing but its superuser yet. */
export async function createApplicationRole(urls: Urls): Promise<void> {
  const { username, password } = new URL(urls.url);
  await withAdmin(urls.adminUrl, (admin) =>
    admin.query(`create role ${quoted(username)} login password ${pg.escapeLiteral(password)}`),
  );
  await createOwnedDatabase(urls, databaseOf(urls.url));
}

/** What `server_version` says without the distribution's remark. */
export function serverVersion(url: string): Promise<string> {
  return withAdmin(url, async (client) => {
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    return rows[0]?.server_version.split(' ')[0] ?? 'unknown';
  });
}

async function createOwnedDatabase(urls: Urls, name: string): Promise<void> {
  const owner = decodeURIComponent(new URL(urls.url).username);
  const ownedBy = owner === '' ? '' : ` owner ${quoted(owner)}`;
  await withAdmin(urls.adminUrl, (admin) => admin.query(`create database ${quoted(name)}${ownedBy}`));
}

export async function withAdmin<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // A connection that breaks rejects the query under way; without a listener it would end the process too.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } finally {
    // On a broken connection there is nobody left to say goodbye to.
    await client.end().catch(() => undefined);
  }
}

function quoted(name: string): string {
  if (Buffer.byteLength(name) > 63) throw new Error(`PostgreSQL would cut the name ${name} after 63 bytes`);
  return pg.escapeIdentifier(name);
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${encodeURIComponent(name)}`;
  return changed.href;
}

function databaseOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1));
}
