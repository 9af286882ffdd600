import { readFileSync } from 'node:fs';
import { PermanentError } from '@surety/core';

export interface Line {
  /** As an editor counts, the heading is line 1. */
  readonly number: number;
  readonly cells: readonly string[];
}

/** The lines below the heading. Throws what the file system says: a file that is not there yet may come. */
export function readCsv(file: string): readonly Line[] {
  return readFileSync(file, 'utf8')
    .split(/\r?\n/)
    .map((text, index): Line => ({ number: index + 1, cells: cellsOf(text) }))
    .filter(({ number, cells }) => number > 1 && cells.join('') !== '');
}

/** Whole cents. What cannot be read as an amount cannot be read tomorrow either: no retry can help. */
export function cents(file: string, line: Line, column: number): number {
  const text = line.cells[column] ?? '';
  if (/^\d+\.\d\d$/.test(text)) return Number(text.replace('.', ''));
  throw new PermanentError(`${file}, line ${line.number}: "${text}" is not an amount such as 12.50`);
}

/** Cells, quoted or not; a quoted one may hold commas. */
function cellsOf(text: string): string[] {
  return [...text.matchAll(/(?:^|,)(?:"([^"]*)"|([^,]*))/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
}
