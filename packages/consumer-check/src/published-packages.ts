import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A target of `exports`: a file, or one per condition. */
export type ExportTarget = string | { readonly [condition: string]: ExportTarget };

/** The fields of a package.json that publishing depends on. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly description?: string;
  readonly keywords?: readonly string[];
  readonly license?: string;
  readonly type?: string;
  readonly sideEffects?: boolean;
  readonly repository?: { readonly type: string; readonly url: string; readonly directory?: string };
  readonly exports?: Readonly<Record<string, ExportTarget>>;
  readonly bin?: string | Readonly<Record<string, string>>;
  readonly files?: readonly string[];
  readonly scripts?: Readonly<Record<string, string>>;
  readonly engines?: Readonly<Record<string, string>>;
  readonly publishConfig?: { readonly access?: string; readonly provenance?: boolean };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export interface PublishedPackage {
  /** The folder, from the root of the repository: `packages/core`, `test-drills`. */
  readonly folder: string;
  readonly manifest: Manifest;
}

/** The top folder of this repository. */
export const repositoryRoot: string = join(import.meta.dirname, '../../..');

/** Beside `packages/`, one that is a folder of drills and has them where people look for them. */
const DRILLS = 'test-drills';

/**
 * Every package that goes to the registry: those under `packages/` that are not private, by folder name, and the drills. Nothing lists
 * them by hand, so that a new package cannot be forgotten.
 */
export function publishedPackages(root: string = repositoryRoot): PublishedPackage[] {
  const packages = readdirSync(join(root, 'packages'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `packages/${entry.name}`);
  return [...packages, DRILLS]
    .filter((folder) => existsSync(join(root, folder, 'package.json')))
    .sort()
    .map((folder) => ({ folder, manifest: readManifest(join(root, folder)) }))
    .filter(({ manifest }) => manifest.private !== true);
}

/** The package.json of a folder. */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}
