import type { Output, Tone } from './output.ts';

/** A text, perhaps coloured, in a column. */
export type Cell = string | { readonly text: string; readonly tone: Tone };

/** A column: its title, and the side on which it is flush. */
export interface Column {
  readonly title: string;
  readonly flush: 'left' | 'right';
}

const GAP = '  ';

/** Lines of a table. Coloured after padding, since escape sequences have no width. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  { tone }: Pick<Output, 'tone'>,
): readonly string[] {
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...rows.map((row) => textOf(row[index] ?? '').length)),
  );
  const line = (cells: readonly Cell[]): string =>
    columns
      .map(({ flush }, index) => {
        const cell = cells[index] ?? '';
        const width = widths[index] ?? 0;
        const last = index === columns.length - 1 && flush === 'left';
        const text =
          flush === 'right' ? textOf(cell).padStart(width) : last ? textOf(cell) : textOf(cell).padEnd(width);
        return typeof cell === 'string' ? text : tone(cell.tone, text);
      })
      .join(GAP)
      .trimEnd();
  return [line(columns.map(({ title }) => ({ text: title, tone: 'faint' }))), ...rows.map(line)];
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}
