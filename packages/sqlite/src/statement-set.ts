import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { statements } from './generated/statements.ts';
import { CELL_STATEMENTS, setCells } from './row-cells.ts';

/** Name of a statement, after its file. */
export type StatementName = keyof typeof statements;
/** The prepared statements of one connection. */
export type Statements = Readonly<Record<StatementName, StatementSync>>;

/** What enqueue needs; all that is prepared on a connection of the application. */
export const ENQUEUE_STATEMENTS: readonly StatementName[] = [
  'readStore',
  'writeStore',
  'readQueue',
  'addQueue',
  'countMoves',
  'countLeases',
  'insertJob',
  'findId',
  'insertTicket',
  'insertScheduled',
  'findKey',
  'takeKey',
  'trimKeys',
];

/**
 * Prepares statements, once per connection; closing it finalises them. What the application may have set for its
 * connection as a whole (numbers as BigInt, rows as arrays) is undone for ours.
 */
export function prepare(
  db: DatabaseSync,
  names: readonly StatementName[] = Object.keys(statements) as StatementName[],
): Statements {
  const prepared: Partial<Record<StatementName, StatementSync>> = {};
  for (const name of names) {
    const statement = db.prepare(statements[name]);
    statement.setReadBigInts(false);
    setCells(statement, CELL_STATEMENTS.has(name));
    prepared[name] = statement;
  }
  return prepared as Statements;
}
