import type { Count, CountKind } from '@surety/core/contract';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `0 s`, `850 ms`, `12 s`, `4 min`, `3 h`, `2 d`: enough to judge by. */
export function spellMs(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 2 * MINUTE) return `${Math.round(ms / SECOND)} s`;
  if (ms < 2 * HOUR) return `${Math.round(ms / MINUTE)} min`;
  return ms < 2 * DAY ? `${Math.round(ms / HOUR)} h` : `${Math.round(ms / DAY)} d`;
}

const MARKS: Readonly<Record<CountKind, string>> = {
  exact: '',
  approximate: '~',
  'lower-bound': '>=',
  'upper-bound': '<=',
  none: '',
};
const MEANINGS: Readonly<Partial<Record<CountKind, string>>> = {
  approximate: '~ approximate',
  'lower-bound': '>= at least',
  'upper-bound': '<= at most',
  none: '? not to be had from this store',
};

/** A figure with the mark of its kind: `12`, `~12`, `>=12`, `<=12`, `?`. `spell`: how its value is written; null as `-`. */
export function figure({ value, kind }: Count, spell: (value: number) => string = String): string {
  if (kind === 'none') return '?';
  return value === null ? '-' : `${MARKS[kind]}${spell(value)}`;
}

/** What the marks mean that were used; null: all figures are exact. */
export function legend(counts: readonly Count[]): string | null {
  const kinds = new Set(counts.map(({ kind }) => kind));
  const meanings = Object.entries(MEANINGS).filter(([kind]) => kinds.has(kind as CountKind));
  return meanings.length === 0 ? null : meanings.map(([, meaning]) => meaning).join(', ');
}
