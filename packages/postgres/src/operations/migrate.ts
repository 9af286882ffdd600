import { SuretyError } from '@surety/core/errors';
import type pg from 'pg';
import type { Connections } from '../connection.ts';
import type { Call } from '../deadline.ts';
import { migrations } from '../generated/migrations.ts';
import { fromNative, sqlState } from '../native-errors.ts';
import type { ResolvedOptions } from '../options.ts';
import { bindSchema, type Sql } from '../sql.ts';

/** The schema that this version needs. */
const NEWEST: number = migrations.length;
/** Any number that is ours alone; the schema's name is the second key. */
const LOCK_KEY = 1_400_206_195;

/** Brings the schema up to date, or only checks it (G10.1). `known`: the table of migrations is there. */
export async function migrate(
  connections: Connections,
  sql: Sql,
  options: ResolvedOptions,
  known: boolean,
  call: Call,
): Promise<void> {
  const version = known ? await readVersion(connections, sql, call) : 0;
  if (version > NEWEST) throw tooNew(version, options, call);
  if (version === NEWEST) return;
  if (!options.migrate) throw behind(version, options, call);
  try {
    await connections.session(call, (client) => runMissing(client, sql, options, call));
  } catch (error) {
    if (sqlState((error as { cause?: unknown }).cause) === '42501')
      throw behind(version, options, call, error);
    throw error;
  }
}

async function readVersion(connections: Connections, sql: Sql, call: Call): Promise<number> {
  const { rows } = await connections.ask(sql.schemaVersion, [], call);
  return (rows[0] as { version: number }).version;
}

/** One transaction under a lock of its own, so that of ten processes one migrates and nine find it done. */
async function runMissing(
  client: pg.ClientBase,
  sql: Sql,
  options: ResolvedOptions,
  call: Call,
): Promise<void> {
  const { schema } = options;
  await client.query('begin');
  try {
    await client.query('select pg_advisory_xact_lock($1, hashtext($2))', [LOCK_KEY, schema]);
    await client.query(
      bindSchema(
        `create schema if not exists {schema};
         create table if not exists {schema}.migration (
           version int primary key, name text not null, applied_at timestamptz not null default now()
         )`,
        schema,
      ),
    );
    const { rows } = await client.query<{ version: number }>(sql.schemaVersion);
    const version = rows[0]?.version ?? 0;
    if (version > NEWEST) throw tooNew(version, options, call);
    for (const migration of migrations.slice(version)) {
      await client.query(bindSchema(migration.sql, schema));
      await client.query(
        bindSchema('insert into {schema}.migration (version, name) values ($1, $2)', schema),
        [migration.version, migration.name],
      );
    }
    await client.query('commit');
  } catch (native) {
    await client.query('rollback').catch(() => undefined);
    throw native instanceof SuretyError ? native : fromNative(native, call.operation);
  }
}

function tooNew(version: number, { schema }: ResolvedOptions, call: Call): SuretyError {
  const what = `The schema "${schema}" has version ${version}; this version of the adapter knows ${NEWEST}.`;
  return new SuretyError('SCHEMA_TOO_NEW', what, { adapter: 'postgres', operation: call.operation });
}

function behind(version: number, { schema }: ResolvedOptions, call: Call, cause?: unknown): SuretyError {
  const details = { adapter: 'postgres', operation: call.operation, cause };
  if (version === 0)
    return new SuretyError('SCHEMA_MISSING', `The schema "${schema}" holds no Surety tables.`, details);
  const what = `The schema "${schema}" has version ${version}; this version of the adapter needs ${NEWEST}.`;
  return new SuretyError('SCHEMA_TOO_OLD', what, details);
}
