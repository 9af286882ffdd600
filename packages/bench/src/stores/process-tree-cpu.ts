import { readdir, readFile } from 'node:fs/promises';

/** `USER_HZ`: Linux shows times in /proc in hundredths of a second on every processor. */
const TICK_US = 10_000;

export interface ProcessTimes {
  readonly parent: number;
  /** Of the process itself, and of its children that have ended, in microseconds. */
  readonly ownUs: number;
  readonly endedChildrenUs: number;
}

/** Reads a line of `/proc/<pid>/stat`. */
export function parseStat(line: string): ProcessTimes {
  // The second field, the command in brackets, may itself hold spaces and brackets. After it, field 3 comes first.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const ticks = (number: number): number => Number(fields[number - 3]) * TICK_US;
  return { parent: Number(fields[1]), ownUs: ticks(14) + ticks(15), endedChildrenUs: ticks(16) + ticks(17) };
}

/** CPU time of a process, its children and those of them that have ended; null where there is no /proc. */
export async function processTreeCpuUs(root: number): Promise<number | null> {
  for (;;) {
    const before = await timesOf(String(root));
    if (before === null) return null;
    const living = await childrenUs(root);
    const after = await timesOf(String(root));
    // A child that ended in between is in neither or in both of the sums: look again.
    if (after?.endedChildrenUs === before.endedChildrenUs) {
      return before.ownUs + before.endedChildrenUs + living;
    }
  }
}

async function childrenUs(root: number): Promise<number> {
  let sum = 0;
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const times = await timesOf(name);
    if (times?.parent === root) sum += times.ownUs;
  }
  return sum;
}

export async function parentOf(pid: number): Promise<number | null> {
  return (await timesOf(String(pid)))?.parent ?? null;
}

async function timesOf(pid: string): Promise<ProcessTimes | null> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return line === null ? null : parseStat(line);
}
