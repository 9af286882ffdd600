import pg from 'pg';

export interface Multiplied {
  /** Without quotes. */
  readonly schema: string;
  readonly table: string;
  readonly count: number;
  /** By column, an expression over the one row `one` and the number `n`, from 1 on. All others are as in the one row. */
  readonly differing: Readonly<Record<string, string>>;
}

/**
 * Makes many rows of the one that a table has. That row was written by the table's owner, so whatever it fills in by
 * itself is as it would be; identities are given out by the server.
 */
export async function multiplyRow(client: pg.Client, request: Multiplied): Promise<void> {
  const { schema, table, count, differing } = request;
  const { rows } = await client.query<{ name: string }>(
    `select column_name as name from information_schema.columns
     where table_schema = $1 and table_name = $2 and is_identity = 'NO' and is_generated = 'NEVER'
     order by ordinal_position`,
    [schema, table],
  );
  const columns = rows.map(({ name }) => name);
  const unknown = Object.keys(differing).filter((name) => !columns.includes(name));
  if (unknown.length > 0) throw new Error(`${schema}.${table} has no column ${unknown.join(', ')}`);
  const quoted = columns.map((name) => pg.escapeIdentifier(name));
  const values = columns.map((name) => differing[name] ?? `one.${pg.escapeIdentifier(name)}`);
  const place = `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(table)}`;
  await client.query(
    `insert into ${place} (${quoted.join(', ')}) select ${values.join(', ')}
     from (select * from ${place}) as one cross join generate_series(1, $1::int) as n`,
    [count],
  );
}
