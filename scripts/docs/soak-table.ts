import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Report {
  readonly backend: string;
  readonly where: string;
  readonly date: string;
  readonly seed: number;
  readonly minutes: number;
  readonly versions: Readonly<Record<string, string>>;
  readonly machine: { readonly cores: number; readonly memory: number };
  readonly unfenced: number;
  readonly faults: number;
  readonly findings: readonly string[];
  readonly account: Readonly<Record<string, number | null>> & {
    readonly faults: Readonly<Record<string, number>>;
  };
}

/** Rows of the account that are plain figures of the checker. */
const FIGURES: readonly (readonly [string, string])[] = [
  ['accepted', 'accepted'],
  ['completed', 'completed'],
  ['dead', 'dead, as planned'],
  ['discarded', 'discarded by the operator'],
  ['effects', 'effects'],
  ['duplicates', 'of them done again'],
  ['lost', 'lost'],
];

/** The account of the latest soak of each backend, from the reports in `folder`. */
export function soakTable(folder: string): string {
  const reports = readReports(folder);
  if (reports.length === 0) return 'No report is there yet: `npm run soak -- --backend sqlite` makes one.';
  const kinds = [...new Set(reports.flatMap(({ account }) => Object.keys(account.faults)))].sort();
  const head = ['', ...reports.map(({ backend }) => backend)];
  const rows = [
    ['minutes', ...reports.map(({ minutes }) => String(minutes))],
    ...FIGURES.map(([name, title]) => [title, ...reports.map(({ account }) => String(account[name] ?? 0))]),
    ['unfenced', ...reports.map(({ unfenced }) => String(unfenced))],
    ['worst recovery', ...reports.map(({ account }) => seconds(account['worstRecoveryMs'] ?? null))],
    ['answers that stayed unknown', ...reports.map(({ account }) => String(account['unknownAnswers'] ?? 0))],
    ['faults injected', ...reports.map(({ faults }) => String(faults))],
    ...kinds.map((kind) => [kind, ...reports.map(({ account }) => String(account.faults[kind] ?? ''))]),
    [
      'findings',
      ...reports.map(({ findings }) => (findings.length === 0 ? 'none' : String(findings.length))),
    ],
  ];
  return [
    ...[head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`),
    '',
    ...reports.map(origin),
  ].join('\n');
}

function origin({ backend, where, date, seed, versions, machine }: Report): string {
  const server = where.replace(/,? on port \d+$/, '').replace(/^a file in .*/, 'a file');
  const named = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const gigabytes = Math.round(machine.memory / 2 ** 30);
  return `${backend}: ${date.slice(0, 10)}, ${server}, ${named.join(', ')}, ${machine.cores} cores, ${gigabytes} GB, seed ${seed}.`;
}

function seconds(ms: number | null): string {
  return ms === null ? '' : `${(ms / 1000).toFixed(1)} s`;
}

function readReports(folder: string): readonly Report[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Report);
}
