import type { Finding } from '@surety/core/operator';
import { note, ok, orFine, problem, spell } from './findings.ts';
import type { Look } from './look.ts';

interface TableRow {
  readonly name: string;
  readonly bytes: number;
  readonly live: number;
  readonly dead: number;
  readonly vacuumed_ago_ms: number | null;
  readonly vacuum_off: boolean;
  readonly usable: boolean;
}

/** Workers at full speed leave this many between two visits of autovacuum, a minute apart. */
const DEAD_NOTE = 100_000;
const DEAD_PROBLEM = 1_000_000;
/** Autovacuum looks once a minute; a table that needs it and was not visited for so long is not being visited. */
const UNVISITED_MS = 10 * 60_000;
/** Tables of narrow rows, of which every claim reads: here size without rows costs time. */
const NARROW: ReadonlySet<string> = new Set(['ticket', 'claim', 'idle_mark', 'dedupe']);
const BLOAT_BYTES = 128 * 1024 * 1024;
const NARROW_ROW_BYTES = 2048;

/** Sizes, dead rows and rights of Surety's tables. None when the schema is not there: that is another check's finding. */
export async function checkTables({ ask, schema }: Look): Promise<readonly Finding[]> {
  const rows = (await ask('diagnoseTables', [schema])) as unknown as readonly TableRow[];
  if (rows.length === 0) return [];
  return [...rights(rows, schema), ...sizes(rows, schema), ...deadRows(rows, schema)];
}

function rights(rows: readonly TableRow[], schema: string): readonly Finding[] {
  const denied = rows.filter(({ usable }) => !usable).map(({ name }) => name);
  if (denied.length === 0) return [ok('rights', 'the role may read and write every table')];
  return [
    problem(
      'rights',
      `the role may not read or write: ${denied.join(', ')}`,
      `grant select, insert, update, delete on all tables in schema "${schema}" to the role.`,
    ),
  ];
}

function sizes(rows: readonly TableRow[], schema: string): readonly Finding[] {
  const total = rows.reduce((sum, { bytes }) => sum + bytes, 0);
  const largest = rows.toSorted((a, b) => b.bytes - a.bytes).slice(0, 3);
  const what = `${mib(total)}: ${largest.map(({ name, bytes }) => `${name} ${mib(bytes)}`).join(', ')}, ...`;
  const bloated = rows.filter(
    ({ name, bytes, live }) => NARROW.has(name) && bytes > BLOAT_BYTES && bytes > live * NARROW_ROW_BYTES,
  );
  return [
    ok('size', what),
    ...bloated.map(({ name, bytes, live }) =>
      note(
        'bloat',
        `${name} takes ${mib(bytes)} for ${live} rows`,
        `In a quiet moment: vacuum full "${schema}"."${name}" (it locks the table for seconds).`,
      ),
    ),
  ];
}

function deadRows(rows: readonly TableRow[], schema: string): readonly Finding[] {
  const off = rows.filter(({ vacuum_off }) => vacuum_off);
  const most = rows.toSorted((a, b) => b.dead - a.dead)[0];
  return orFine(
    [
      ...off.map(({ name }) =>
        problem(
          'dead-rows',
          `autovacuum is off for ${name}`,
          `alter table "${schema}"."${name}" reset (autovacuum_enabled);`,
        ),
      ),
      ...rows.filter(({ dead, live }) => dead > Math.max(DEAD_NOTE, live)).map((row) => piledUp(row)),
    ],
    ok('dead-rows', `autovacuum keeps up; most in ${most?.name ?? 'none'}: ${most?.dead ?? 0}`),
  );
}

function piledUp({ name, dead, live, vacuumed_ago_ms: ago }: TableRow): Finding {
  const visited = ago === null ? 'never vacuumed' : `vacuumed ${spell(ago)} ago`;
  const what = `${name} holds ${dead} dead rows beside ${live} live ones, ${visited}`;
  if (dead > DEAD_PROBLEM && (ago === null || ago > UNVISITED_MS)) {
    return problem(
      'dead-rows',
      what,
      'Autovacuum does not get there: see open-transactions, then autovacuum_max_workers.',
    );
  }
  return note('dead-rows', what, 'If it stays: something holds vacuum back, see open-transactions.');
}

function mib(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
