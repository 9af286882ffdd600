/**
 * Writes the generated parts of README.md: the example, from the file that a test runs, the guarantee table, from the
 * conformance reports, the performance table, from the reports of the bench, and the account of the soaks, from their reports. `--check` fails when the page is out of date.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GUARANTEES, PROMISES } from '@surety/core';
import { performanceTable } from './docs/performance-table.ts';
import { soakTable } from './docs/soak-table.ts';

interface Report {
  readonly backend: string;
  readonly variant: string | null;
  readonly versions: Readonly<Record<string, string>>;
  readonly cases: readonly { readonly guarantee: string; readonly status: string }[];
}

const root = join(import.meta.dirname, '..');
const readmeFile = join(root, 'README.md');
const before = readFileSync(readmeFile, 'utf8');
const after = [
  ['example', example()],
  ['guarantees', guaranteeTable()],
  ['performance', performanceTable(join(root, 'reports/bench'))],
  ['soak', soakTable(join(root, 'reports/soak'))],
].reduce((page, [name, text]) => between(page, name ?? '', text ?? ''), before);

if (process.argv.includes('--check')) {
  if (before !== after) {
    console.error('README.md is out of date: run `npm run generate`.');
    process.exitCode = 1;
  }
} else if (before !== after) {
  writeFileSync(readmeFile, after);
}

function between(page: string, name: string, text: string): string {
  const open = `<!-- generated: ${name} -->`;
  const close = `<!-- end: ${name} -->`;
  const start = page.indexOf(open);
  const end = page.indexOf(close);
  if (start < 0 || end < start) throw new Error(`README.md lacks the markers of the part "${name}".`);
  return `${page.slice(0, start + open.length)}\n${text}\n${page.slice(end)}`;
}

function example(): string {
  const source = readFileSync(join(root, 'examples/quick-start/main.ts'), 'utf8').trim();
  return `\`\`\`ts\n${source}\n\`\`\``;
}

function reports(): Report[] {
  const folder = join(root, 'reports/conformance');
  if (!existsSync(folder)) return [];
  return (
    readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Report)
      // The plain configuration of a backend before its variants.
      .sort((a, b) => title(a).localeCompare(title(b), 'en'))
  );
}

function guaranteeTable(): string {
  const all = reports();
  const head = ['', 'promise', ...all.map(title)];
  const rows = Object.entries(PROMISES).map(([id, name]) => [
    id,
    name,
    ...all.map((report) => cell(report, id)),
  ]);
  const lines = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
  const asked = GUARANTEES.filter((guarantee) => guarantee.proof === 'backend').length;
  const versions = all.map(
    (report) =>
      `${title(report)}: ${Object.entries(report.versions)
        .map(([what, which]) => `${what} ${which}`)
        .join(', ')}`,
  );
  return [
    ...lines,
    '',
    `Cases proven per promise, of ${asked} sub-clauses that every backend is asked; "n.a." is what the backend states that it does not offer, and then refuses. Runs: ${versions.join('; ')}.`,
  ].join('\n');
}

function title(report: Report): string {
  return report.variant === null ? report.backend : `${report.backend} ${report.variant}`;
}

function cell(report: Report, promise: string): string {
  const statuses = report.cases
    .filter((one) => one.guarantee.split('.')[0] === promise)
    .map((one) => one.status);
  const count = (status: string): number => statuses.filter((one) => one === status).length;
  const parts = [`${count('proven')} proven`];
  if (count('not-applicable') > 0) parts.push(`${count('not-applicable')} n.a.`);
  for (const status of ['not-exercised', 'waived', 'failed'])
    if (count(status) > 0) parts.push(`${count(status)} ${status}`);
  return parts.join(', ');
}
