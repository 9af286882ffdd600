import { basename, join } from 'node:path';
import { type ExportTarget, publishedPackages, repositoryRoot } from '@surety/consumer-check';

/** One thing that users import. */
export interface EntryPoint {
  /** As it is imported: `@surety/memory/testing`. */
  readonly specifier: string;
  /** Its compiled types, absolute. */
  readonly types: string;
  /** Name of its page: `memory-testing`. */
  readonly page: string;
}

/** The entry points of the published packages, those of a package together, its root first. */
export function entryPoints(): EntryPoint[] {
  return publishedPackages().flatMap(({ folder, manifest }) =>
    Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) => {
      const types = typesOf(target);
      if (types === undefined) return [];
      const page = basename(folder) + subpath.slice(1).replaceAll('/', '-');
      return [
        { specifier: manifest.name + subpath.slice(1), types: join(repositoryRoot, folder, types), page },
      ];
    }),
  );
}

function typesOf(target: ExportTarget): string | undefined {
  if (typeof target === 'string') return undefined;
  return typeof target['types'] === 'string' ? target['types'] : undefined;
}
