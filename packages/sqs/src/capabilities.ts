import { type Capabilities, MAX_DELAY_MS } from '@surety/core/contract';
import type { ResolvedOptions } from './options.ts';
import { MAX_VISIBILITY_S, RETENTION_MS } from './service-limits.ts';

/** What SQS with this adapter promises. */
export interface SqsCapabilities extends Capabilities {
  readonly moves: 'copy';
  readonly fence: 'none';
  readonly dedupe: 'none';
  readonly priority: 'none';
  readonly lookup: false;
  readonly transactional: false;
}

/**
 * A job stays hidden for this much longer than its lease: whatever is on its way when the lease ends (a delete, an answer that came late) still meets
 * a job that nobody else has, because a late delete may be obeyed.
 */
export const RESERVE_MS = 2000;
/** Kept free below the twelve hours, for the reserve, an attempt's grace and the roundings to seconds. */
const CEILING_MARGIN_MS = 60_000;
/** Room in a message for what a job gathers in its life: five errors of 8 KiB, counters. */
const HISTORY_BYTES = 52 * 1024;

/** What of the capabilities depends on options. */
export function capabilitiesFor(options: ResolvedOptions): SqsCapabilities {
  return Object.freeze({
    moves: 'copy',
    // The service stores a message in several places before it answers; three is what it says of availability zones.
    durability: Object.freeze({ replicated: 3 }),
    retentionMs: RETENTION_MS,
    delay: Object.freeze({ maxMs: MAX_DELAY_MS, granularityMs: 1000 }),
    lease: Object.freeze({
      minMs: 1000,
      maxMs: MAX_VISIBILITY_S * 1000 - CEILING_MARGIN_MS,
      marginMs: 50,
      endsBy: 'time',
      // The reserve, and the rounding to seconds.
      reclaimBoundMs: RESERVE_MS + 1000,
    }),
    attempts: 'upper-bound',
    fence: 'none',
    idempotentEnqueue: 'none',
    claimReplay: false,
    dedupe: 'none',
    priority: 'none',
    maxDepth: 'approximate',
    counts: Object.freeze({
      ready: 'approximate',
      scheduled: 'approximate',
      leased: 'approximate',
      dead: 'approximate',
    }),
    oldestReadyAge: options.oldestAge === 'cloudwatch' ? 'approximate' : 'upper-bound',
    deadLetters: Object.freeze({ order: 'none', cursor: false, byId: 'scan', retentionMs: RETENTION_MS }),
    pacing: Object.freeze({ boundMs: options.pauseCheckMs + 500 }),
    payload: Object.freeze({ maxBytes: options.maxMessageBytes - HISTORY_BYTES }),
    batch: Object.freeze({ maxItems: 500, maxBytes: 10 * 1024 * 1024 }),
    sessions: 'many-hosts',
    lookup: false,
    transactional: false,
    stopBoundMs: options.pollSeconds * 1000 + 2000,
    // The wait for jobs, the look at the pause, the look at the delayed ones.
    idleOperationsPerMinute:
      Math.ceil(60 / options.pollSeconds) +
      Math.ceil(60_000 / (options.pauseCheckMs * 0.75)) +
      Math.ceil(60_000 / (options.delayCheckMs + options.pollSeconds * 1000)),
  });
}
