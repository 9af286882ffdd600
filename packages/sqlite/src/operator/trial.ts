import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import type { Trial, TrialTransaction } from '@surety/core/operator';
import { sqlite } from '../index.ts';
import { isBusy, mapNative } from '../native-errors.ts';
import { checkPlace } from '../open-database.ts';

/** Begin of the name of a folder for trials, beside the file, so that the disk under test is the right one. */
export const TRIAL_FOLDER = 'surety-verify-';
/** An application waits longer for the write lock; the suite's own writers hold it for milliseconds. */
const BEGIN_WITHIN_MS = 10_000;

/** Makes a folder beside the file, with a file of its own. */
export function openTrial(besides: string): Trial {
  checkPlace(besides);
  const folder = make(besides);
  const file = join(folder, 'jobs.db');
  return {
    where: `the folder ${folder}`,
    serverless: true,
    versions: { node: process.versions.node, sqlite: process.versions['sqlite'] ?? 'unknown' },
    backend: () => sqlite(file),
    unreachable: () => sqlite(join(folder, 'no-such-folder', 'jobs.db')),
    connect: { module: trialModule(), args: { file } },
    transaction: () => begin(file),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

function make(besides: string): string {
  try {
    return mkdtempSync(join(dirname(besides), TRIAL_FOLDER));
  } catch (error) {
    throw mapNative(error, 'trial', besides);
  }
}

/** Keeps the ending of this module: `.ts` from source, `.js` when built. */
function trialModule(): string {
  return new URL(`./connect${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url).href;
}

/** With a connection of its own, as an application would write to its own tables. */
async function begin(file: string): Promise<TrialTransaction> {
  const db = new DatabaseSync(file, { timeout: 0 });
  db.exec('pragma synchronous = full');
  const deadline = performance.now() + BEGIN_WITHIN_MS;
  // Waits beside the event loop: the lock may be another transaction's of this very process.
  while (!tryBegin(db, performance.now() > deadline)) await pause(1);
  const end = (how: 'commit' | 'rollback') => async (): Promise<void> => {
    db.exec(how);
    db.close();
  };
  return { tx: db, commit: end('commit'), rollback: end('rollback') };
}

function tryBegin(db: DatabaseSync, late: boolean): boolean {
  try {
    db.exec('begin immediate');
    return true;
  } catch (error) {
    if (isBusy(error) && !late) return false;
    db.close();
    throw error;
  }
}
