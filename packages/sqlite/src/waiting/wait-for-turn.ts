import { setTimeout as sleep } from 'node:timers/promises';

/** The longest pause between two tries for the write lock. A transaction takes a millisecond or a few. */
const LONGEST_MS = 8;

/**
 * Pauses before the next try for the write lock: at random, so that rivals do not meet again at the same moment, and shorter
 * the longer the wait has been, so that nobody is overtaken for ever.
 */
export async function waitForTurn(tries: number, deadline: number): Promise<void> {
  const longest = Math.max(1, LONGEST_MS - tries / 4);
  const left = Math.max(0, deadline - performance.now());
  await sleep(Math.min(left, Math.random() * longest));
}
