/**
 * Says which runs of the conformance suite a change needs, as an output of a workflow step: `runs=[...]`.
 *
 *   node scripts/select-conformance.ts [BASE]
 *
 * BASE is the commit before the change. Without it, or where it is not to be found, all runs are needed.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { allRuns, selectRuns } from './workflows/select-runs.ts';

const root = join(import.meta.dirname, '..');
console.log(`runs=${JSON.stringify(selectRuns(allRuns(root), changedSince(process.argv[2])))}`);

function changedSince(base: string | undefined): string[] | null {
  if (base === undefined || !/^[0-9a-f]{40}$/.test(base)) return null;
  const { status, stdout } = spawnSync('git', ['diff', '--name-only', '-z', `${base}...HEAD`], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return status === 0 ? stdout.split('\0').filter((file) => file !== '') : null;
}
