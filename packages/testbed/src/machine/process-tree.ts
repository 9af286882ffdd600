import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { mustRun } from './run-command.ts';

/** Sends a signal; a process that is already gone is no error. Says whether there was one. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/**
 * Stops a process and all its descendants (SIGSTOP). The root goes first: stopped, it can start no further child while
 * the list is made. Returns the pids, root first.
 */
export async function freezeTree(root: number): Promise<number[]> {
  signal(root, 'SIGSTOP');
  const frozen = [root];
  // Processes that were just being started are found in a second look; usually that one finds nothing new.
  for (;;) {
    const found = (await descendants(root)).filter((pid) => !frozen.includes(pid));
    if (found.length === 0) return frozen;
    for (const pid of found) signal(pid, 'SIGSTOP');
    frozen.push(...found);
  }
}

/** Lets a frozen tree go on, children first, so that the root finds them as it left them. */
export async function thawTree(root: number): Promise<void> {
  for (const pid of await descendants(root)) signal(pid, 'SIGCONT');
  signal(root, 'SIGCONT');
}

/** SIGKILL to a process and all its descendants at one moment; resolves once all have ended. */
export async function killTree(root: number): Promise<void> {
  const pids = await freezeTree(root);
  for (const pid of pids) signal(pid, 'SIGKILL');
  const deadline = Date.now() + 10_000;
  for (const pid of pids) {
    while (await isAlive(pid)) {
      if (Date.now() > deadline) throw new Error(`process ${pid} is still there 10 s after SIGKILL`);
      await sleep(5);
    }
  }
}

/** Whether a process runs. A zombie has ended: it only waits for its parent to notice. */
export async function isAlive(pid: number): Promise<boolean> {
  if (process.platform === 'linux') {
    const stat = await readStat(String(pid));
    return stat !== undefined && stat.state !== 'Z' && stat.state !== 'X';
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function descendants(root: number): Promise<number[]> {
  const parents = await parentOfEach();
  const found: number[] = [];
  const open = [root];
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    for (const [pid, itsParent] of parents) {
      if (itsParent !== parent) continue;
      found.push(pid);
      open.push(pid);
    }
  }
  return found;
}

async function parentOfEach(): Promise<Map<number, number>> {
  const parents = new Map<number, number>();
  if (process.platform === 'linux') {
    // Slim images have /proc but no `ps`.
    for (const name of await readdir('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const stat = await readStat(name);
      if (stat !== undefined) parents.set(Number(name), stat.parent);
    }
    return parents;
  }
  for (const line of (await mustRun('ps', ['-axo', 'pid=,ppid='])).split('\n')) {
    const [pid, parent] = line.trim().split(/\s+/);
    if (pid !== undefined && parent !== undefined) parents.set(Number(pid), Number(parent));
  }
  return parents;
}

async function readStat(pid: string): Promise<{ state: string; parent: number } | undefined> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (line === undefined) return undefined;
  // The second field, the command in brackets, may itself hold spaces and brackets.
  const [state, parent] = line.slice(line.lastIndexOf(')') + 2).split(' ');
  return state === undefined || parent === undefined ? undefined : { state, parent: Number(parent) };
}
