import { randomFillSync } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

/** Of the sixteen bytes that a caller of `uuid` hands over, those that are used beside a counter of its own. */
const RANDOM_FROM = 10;
const BYTES = 16;
const USED = BYTES - RANDOM_FROM;
/** A counter begins below half of its 32 bits, so that it can grow within its millisecond. */
const COUNTER_BITS = 31;

/** Random bytes for some hundred ids: asking the system for each would cost more than the whole rest of an enqueue. */
const pool = new Uint8Array(512 * USED);
const random = new Uint8Array(BYTES);
let taken = pool.length;
let lastMs = Number.NEGATIVE_INFINITY;
let counter = 0;

/** A UUID of version 7. Those of one process are in the order in which they were made, also within a millisecond and when the clock steps back. */
export function newId(): string {
  if (taken === pool.length) {
    randomFillSync(pool);
    taken = 0;
  }
  for (let at = RANDOM_FROM; at < BYTES; at += 1) random[at] = pool[taken++] ?? 0;
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    counter = Math.floor(Math.random() * 2 ** COUNTER_BITS);
  } else {
    counter += 1;
    if (counter === 2 ** 32) {
      counter = 0;
      lastMs += 1;
    }
  }
  return uuidv7({ random, msecs: lastMs, seq: counter });
}
