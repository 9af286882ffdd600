import type { StatementSync } from 'node:sqlite';
import type { StatementName } from './statement-set.ts';

/**
 * Statements of the hot path. Their rows come as arrays: node:sqlite makes the names of all columns anew for every call,
 * which costs more than reading a few rows.
 */
export const CELL_STATEMENTS: ReadonlySet<StatementName> = new Set([
  'readStore',
  'readQueueToClaim',
  'takePage',
  'readHeld',
  'findClaims',
  'listHeld',
  'findHeld',
]);

/** Rows as arrays where the version of Node can (22.16); the others give objects, with their columns in order. */
export function setCells(statement: StatementSync, wanted: boolean): void {
  (statement as Partial<StatementSync>).setReturnArrays?.call(statement, wanted);
}

/** Cells of a row in the order of its columns; `T` is what the statement's file says. */
export function cellsOf<T extends readonly unknown[]>(row: unknown): T {
  return (Array.isArray(row) ? row : Object.values(row as object)) as unknown as T;
}

/** {@link cellsOf} for many. */
export function allCells<T extends readonly unknown[]>(rows: readonly unknown[]): T[] {
  return (rows.length === 0 || Array.isArray(rows[0]) ? rows : rows.map((row) => cellsOf<T>(row))) as T[];
}
