import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One run of the conformance suite: a backend in one configuration. */
export interface ConformanceRun {
  readonly backend: string;
  /** Empty: the plain configuration. */
  readonly variant: string;
}

/** What every backend is built on: a change of it may break any of them. */
const COMMON = [
  'package-lock.json',
  'package.json',
  'tsconfig.base.json',
  'packages/core/',
  'packages/conformance/',
  'packages/testbed/',
  'scripts/select-conformance.ts',
  'scripts/workflows/',
  '.github/workflows/conformance.yml',
];

/** Every configuration that has a committed report, and so a promise to keep. */
export function allRuns(root: string): ConformanceRun[] {
  const folder = join(root, 'reports/conformance');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => {
      const report = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
        readonly backend: string;
        readonly variant: string | null;
      };
      return { backend: report.backend, variant: report.variant ?? '' };
    });
}

/** The runs that a change of these files asks for; `null`: what changed is not known, so all. */
export function selectRuns(
  runs: readonly ConformanceRun[],
  changed: readonly string[] | null,
): ConformanceRun[] {
  if (changed === null) return [...runs];
  const relevant = changed.filter((file) => !file.endsWith('.md'));
  if (relevant.some((file) => COMMON.some((common) => file === common || isInside(file, common))))
    return [...runs];
  return runs.filter(({ backend }) => relevant.some((file) => isInside(file, `packages/${backend}/`)));
}

function isInside(file: string, folder: string): boolean {
  return folder.endsWith('/') && file.startsWith(folder);
}
