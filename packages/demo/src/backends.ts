import { join } from 'node:path';
import type { Backend } from '@surety/core';

/** A place for jobs, ready to be opened by any process that knows its address. */
export interface PreparedBackend extends AsyncDisposable {
  /** What `connect` takes: a path or a URL. Crosses to the workers. */
  readonly address: string;
  /** Where the jobs are afterwards; null when they go with the demo. No password. */
  readonly leftAt: string | null;
}

/** How the demo comes by a backend. */
export interface DemoBackend {
  /** Makes an empty place for jobs; what can be kept goes into the folder. */
  prepare(folder: string): Promise<PreparedBackend>;
  /** A backend object of its own, not yet opened. */
  connect(address: string): Promise<Backend>;
}

/** Names that `--backend` takes. */
export type BackendName = 'sqlite' | 'postgres';

/** Adapters are imported when they are asked for: nobody needs a client library of a broker that is not used. */
const BACKENDS: Readonly<Record<BackendName, DemoBackend>> = {
  sqlite: {
    prepare: async (folder) => {
      const file = join(folder, 'jobs.db');
      return { address: file, leftAt: file, [Symbol.asyncDispose]: () => Promise.resolve() };
    },
    connect: async (address) => (await import('@surety/sqlite')).sqlite(address),
  },
  postgres: {
    prepare: async () => {
      const server = await (await import('@surety/testbed')).startPostgres();
      const url = await server.createDatabase();
      return { address: url, leftAt: null, [Symbol.asyncDispose]: () => server.destroy() };
    },
    connect: async (address) => (await import('@surety/postgres')).postgres({ url: address }),
  },
};

/** See {@link BackendName}. */
export const BACKEND_NAMES: readonly BackendName[] = Object.keys(BACKENDS) as BackendName[];

/** Adapters that the demo cannot run on, and why. */
export const REFUSED_BACKENDS: ReadonlyMap<string, string> = new Map([
  ['memory', 'its jobs live inside one process, and the demo kills processes'],
]);

/** The entry of the table. */
export function demoBackend(name: BackendName): DemoBackend {
  return BACKENDS[name];
}
