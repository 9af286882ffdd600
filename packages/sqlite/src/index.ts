import { assemble, type SqliteBackend } from './backend.ts';
import { resolveOptions, type SqliteOptions } from './options.ts';

export type { SqliteBackend } from './backend.ts';
export type { SqliteCapabilities } from './capabilities.ts';
export type { SqliteOptions } from './options.ts';

/**
 * The embedded backend: jobs in one SQLite file, written with fsync, shared by several processes of one host.
 * Makes no file before `open`. Takes the path of the file, or options. Throws OPTIONS_INVALID.
 */
export function sqlite(pathOrOptions: string | SqliteOptions): SqliteBackend {
  return assemble(resolveOptions(pathOrOptions));
}
