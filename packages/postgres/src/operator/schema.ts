import type { SchemaState } from '@surety/core/operator';
import type { Connections } from '../connection.ts';
import type { Call } from '../deadline.ts';
import { migrations } from '../generated/migrations.ts';
import { bindSchema, type Sql } from '../sql.ts';

const NEWEST = migrations.length;

/** Where the schema stands. Reads only. */
export async function schemaOf(
  connections: Connections,
  sql: Sql,
  schema: string,
  call: Call,
): Promise<SchemaState> {
  const { rows } = await connections.ask(sql.diagnoseSchema, [schema], call);
  const version = rows[0]?.['migrated'] === true ? await readVersion(connections, sql, call) : 0;
  return { version, newest: NEWEST, script: scriptFrom(version, schema) };
}

async function readVersion(connections: Connections, sql: Sql, call: Call): Promise<number> {
  const { rows } = await connections.ask(sql.schemaVersion, [], call);
  return Number(rows[0]?.['version']);
}

/** What `open` would run, for somebody who may and wants to do it by hand. */
function scriptFrom(version: number, schema: string): string {
  if (version >= NEWEST) return '';
  const first =
    version > 0
      ? []
      : [
          `create schema if not exists {schema};
create table if not exists {schema}.migration (
  version int primary key, name text not null, applied_at timestamptz not null default now()
);`,
        ];
  const steps = migrations
    .slice(version)
    .map(
      ({ version: next, name, sql }) =>
        `${ended(sql)}\ninsert into {schema}.migration (version, name) values (${next}, '${name}');`,
    );
  return bindSchema(['begin;', ...first, ...steps, 'commit;'].join('\n'), schema);
}

function ended(sql: string): string {
  return sql.trimEnd().endsWith(';') ? sql : `${sql};`;
}
