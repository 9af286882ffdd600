import { expect, test } from 'vitest';
import { parentOf, parseStat, processTreeCpuUs } from '../src/stores/process-tree-cpu.ts';

test('a line of /proc is read whatever the command is called', () => {
  const line = '42 (a ) (b) S 7 42 42 0 -1 4194560 100 200 0 0 13 4 50 6 20 0 1 0 300 0 0';
  expect(parseStat(line)).toEqual({ parent: 7, ownUs: 170_000, endedChildrenUs: 560_000 });
});

test('the time of this process is no less than what it knew itself before', async () => {
  if (process.platform !== 'linux') {
    expect(await processTreeCpuUs(process.pid)).toBeNull();
    return;
  }
  expect(await parentOf(process.pid)).toBe(process.ppid);
  const { user, system } = process.cpuUsage();
  const seen = await processTreeCpuUs(process.pid);
  // User and system time are rounded down to hundredths of a second.
  expect(seen).toBeGreaterThanOrEqual(user + system - 20_000);
});
