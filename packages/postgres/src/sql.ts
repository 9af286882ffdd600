import { statements } from './generated/statements.ts';

/** All statements, bound to one schema. */
export type Sql = typeof statements;

/** Puts the quoted schema into a text of ours. The name was checked to hold no quote. */
export function bindSchema(text: string, schema: string): string {
  return text.replaceAll('{schema}', `"${schema}"`);
}

/** Binds every statement to a schema. */
export function bindStatements(schema: string): Sql {
  const bound = Object.entries(statements).map(([key, text]) => [key, bindSchema(text, schema)]);
  return Object.freeze(Object.fromEntries(bound)) as Sql;
}

/** A one-dimensional array of values that need no quotes: UUIDs and numbers. */
export function plainArray(values: readonly (string | number)[]): string {
  return `{${values.join(',')}}`;
}
