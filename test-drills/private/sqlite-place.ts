import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Place } from '../stage/place.ts';
import { connectOf } from './connect.ts';

/** A file in a new folder. */
export async function sqlitePlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'surety-drills-'));
  return {
    backend: 'sqlite',
    where: 'a file in a temporary folder',
    connect: connectOf({ adapter: 'sqlite', file: join(folder, 'jobs.db') }),
    server: null,
    road: null,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}
