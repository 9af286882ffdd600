import type { Contestant } from './contestant.ts';

/** The name of our own contestant on every backend; all others are peers. */
export const OURS = 'surety';

export type BackendName = 'postgres' | 'sqlite';

export const BACKENDS: readonly BackendName[] = ['postgres', 'sqlite'];

/**
 * By backend, ours first. Loaded on demand, so that a process that measures one contestant carries no code of another.
 * Each name is explained in the file of its contestant.
 */
const CONTESTANTS: Readonly<Record<BackendName, Readonly<Record<string, () => Promise<Contestant>>>>> = {
  postgres: {
    [OURS]: async () => (await import('./surety-postgres.ts')).suretyOnPostgres,
    'graphile-worker-batch': async () => (await import('./graphile-worker-batch.ts')).graphileWorkerBatch,
  },
  sqlite: {
    [OURS]: async () => (await import('./surety-sqlite.ts')).suretyOnSqlite,
  },
};

export function contestantNames(backend: BackendName): readonly string[] {
  return Object.keys(CONTESTANTS[backend]);
}

export async function loadContestant(backend: BackendName, name: string): Promise<Contestant> {
  const load = CONTESTANTS[backend][name];
  if (load === undefined) throw new Error(`there is no contestant ${name} on ${backend}`);
  return load();
}
