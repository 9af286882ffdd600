import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  type PublishedPackage,
  publishedPackages,
  readManifest,
  repositoryRoot,
} from '@surety/consumer-check';
import { DEPENDENCY_REASONS } from './dependency-reasons.ts';

/** Everything that an installation of a published package brings along or asks for, and why. Throws where a reason is missing. */
export function dependenciesPage(): string {
  const packages = publishedPackages();
  const sections = packages.map((one) => {
    const rows = dependenciesOf(one).map((dependency) => row(one, dependency, packages));
    const table = `| dependency | kind | range | why | licence | Node |\n| --- | --- | --- | --- | --- | --- |\n${rows.join('')}`;
    return `## ${one.manifest.name}\n\n${rows.length === 0 ? 'None.\n' : table}`;
  });
  refuseLeftoverReasons(packages);
  return `${INTRODUCTION}\n${sections.join('\n')}`;
}

interface Dependency {
  readonly name: string;
  readonly kind: 'runtime' | 'optional' | 'peer' | 'optional peer';
  readonly range: string;
}

function dependenciesOf({ manifest }: PublishedPackage): Dependency[] {
  const of = (field: Readonly<Record<string, string>> | undefined, kind: Dependency['kind']): Dependency[] =>
    Object.entries(field ?? {}).map(([name, range]) => ({
      name,
      range,
      kind: manifest.peerDependenciesMeta?.[name]?.optional === true ? 'optional peer' : kind,
    }));
  return [
    ...of(manifest.dependencies, 'runtime'),
    ...of(manifest.optionalDependencies, 'optional'),
    ...of(manifest.peerDependencies, 'peer'),
  ].sort((one, other) => (one.name < other.name ? -1 : 1));
}

function row(
  one: PublishedPackage,
  { name, kind, range }: Dependency,
  all: readonly PublishedPackage[],
): string {
  const own = all.some(({ manifest }) => manifest.name === name);
  const reason = own ? 'Part of Surety, released together' : DEPENDENCY_REASONS[keyOf(one)]?.[name];
  if (reason === undefined)
    throw new Error(
      `${one.manifest.name} depends on ${name}: say why in scripts/docs/dependency-reasons.ts, or do without.`,
    );
  const { license, engines } = readManifest(installed(one, name));
  return `| \`${name}\` | ${kind} | \`${range}\` | ${reason} | ${license ?? 'not stated'} | ${engines?.['node'] ?? 'not stated'} |\n`;
}

/** The folder that Node would find from the package. */
function installed(one: PublishedPackage, name: string): string {
  const places = [join(one.folder, 'node_modules', name), join('node_modules', name)];
  const found = places.map((place) => join(repositoryRoot, place)).find((place) => existsSync(place));
  if (found === undefined) throw new Error(`${name} is not installed: run npm install.`);
  return found;
}

function keyOf({ folder }: PublishedPackage): string {
  return basename(folder);
}

function refuseLeftoverReasons(packages: readonly PublishedPackage[]): void {
  for (const [key, reasons] of Object.entries(DEPENDENCY_REASONS)) {
    const one = packages.find((published) => keyOf(published) === key);
    const names = one === undefined ? [] : dependenciesOf(one).map(({ name }) => name);
    const leftover = Object.keys(reasons).find((name) => !names.includes(name));
    if (leftover !== undefined)
      throw new Error(
        `scripts/docs/dependency-reasons.ts explains ${leftover}, which packages/${key} does not have.`,
      );
  }
}

const INTRODUCTION = `# Dependencies

What each published package brings along (runtime) or asks the application for (peer). Licence and supported Node are those of the
version in the lock file. What only builds and tests this repository is not listed: nobody installs it.
`;
