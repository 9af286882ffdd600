import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** What a demo leaves behind, to be looked into until the next one starts. */
export interface DemoFiles {
  readonly folder: string;
  readonly effects: string;
  logOf(worker: string): string;
}

const FOLDER = 'surety-demo';
/** Only what a demo makes: the folder may be somebody else's of the same name. */
const OURS = /^effects\.db(-wal|-shm)?$|^worker-\d+\.log$/;
const JOBS = /^jobs\.db(-wal|-shm)?$/;

/** Makes the folder in the working directory and removes what an earlier demo left in it; its jobs too, where new ones take their place. */
export function freshDemoFiles(workingDirectory: string, jobsToo: boolean): DemoFiles {
  const folder = join(workingDirectory, FOLDER);
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder))
    if (OURS.test(name) || (jobsToo && JOBS.test(name))) rmSync(join(folder, name));
  return { folder, effects: join(folder, 'effects.db'), logOf: (worker) => join(folder, `${worker}.log`) };
}
