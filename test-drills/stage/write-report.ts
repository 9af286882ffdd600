import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { DrillReport, Figure } from './drill.ts';

/** Writes `<name>-<backend>.json`; answers its path from the working directory on. */
export async function writeReport(report: DrillReport, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${report.drill}-${report.backend}.json`);
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
  return relative(process.cwd(), file);
}

/** A report for people. */
export function reportLines({ drill, backend, verdict, seed, figures }: DrillReport): readonly string[] {
  const { held = [], broken = [], ...others } = figures;
  return [
    `${drill} on ${backend}: ${verdict.toUpperCase()} (seed ${seed})`,
    ...Object.entries(others).map(([name, value]) => `  ${name}: ${shown(value)}`),
    `  ${listed(held).length} things held, ${listed(broken).length} did not`,
    ...listed(broken).map((what) => `  BROKEN: ${what}`),
  ];
}

function listed(value: Figure): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function shown(value: Figure): string {
  return typeof value === 'string' ? value : JSON.stringify(value).replaceAll(/(?<=[,:])(?=\S)/g, ' ');
}
