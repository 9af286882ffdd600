import { backlog } from './backlog.ts';
import { drain } from './drain.ts';
import { dueTime } from './due-time.ts';
import { endToEnd } from './end-to-end.ts';
import { enqueue } from './enqueue.ts';
import { openTransaction } from './open-transaction.ts';
import { pickUp } from './pick-up.ts';
import type { Suite } from './suite.ts';
import { twoProcesses } from './two-processes.ts';

/** In the order in which they run. */
export const SUITES: readonly Suite[] = [
  drain,
  twoProcesses,
  endToEnd,
  ...enqueue,
  pickUp,
  dueTime,
  ...backlog,
  openTransaction,
];
