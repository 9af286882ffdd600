import { type Capabilities, MAX_DELAY_MS } from '@surety/core/contract';
import type { ResolvedOptions } from './options.ts';

/** What RabbitMQ with this adapter promises. */
export interface RabbitmqCapabilities extends Capabilities {
  readonly moves: 'copy';
  readonly fence: 'none';
  readonly dedupe: 'none';
  readonly priority: 'none';
  readonly lookup: false;
  readonly transactional: false;
}

/** The broker looks for overdue acknowledgements once a minute; a lease ends well before it acts. */
export const CONSUMER_TIMEOUT_MARGIN_MS = 60_000;

/** What of the capabilities depends on options: how long a job may be held, and when a frozen holder is noticed. */
export function capabilitiesFor(options: ResolvedOptions): RabbitmqCapabilities {
  return Object.freeze({
    moves: 'copy',
    durability: 'fsync',
    retentionMs: null,
    // The process that moves them adds some ms for each level, more when thousands are due at the same moment.
    delay: Object.freeze({ maxMs: MAX_DELAY_MS, granularityMs: 500 }),
    lease: Object.freeze({
      minMs: 500,
      // Twice, so that a lease of the longest kind can be renewed once just after it was given.
      maxMs: options.consumerTimeoutMs - 2 * CONSUMER_TIMEOUT_MARGIN_MS,
      marginMs: 50,
      endsBy: 'time-or-connection',
      // A holder that froze is noticed after three heartbeats that did not come.
      reclaimBoundMs: options.heartbeatSeconds * 3000 + 1000,
    }),
    attempts: 'upper-bound',
    fence: 'none',
    idempotentEnqueue: 'none',
    claimReplay: false,
    dedupe: 'none',
    priority: 'none',
    maxDepth: 'approximate',
    counts: Object.freeze({ ready: 'exact', scheduled: 'lower-bound', leased: 'none', dead: 'lower-bound' }),
    oldestReadyAge: 'none',
    deadLetters: Object.freeze({ order: 'none', cursor: false, byId: 'scan', retentionMs: null }),
    pacing: Object.freeze({ boundMs: 1000 }),
    payload: Object.freeze({ maxBytes: 1024 * 1024 }),
    batch: Object.freeze({ maxItems: 1000, maxBytes: 16 * 1024 * 1024 }),
    sessions: 'many-hosts',
    lookup: false,
    transactional: false,
    stopBoundMs: 1000,
    idleOperationsPerMinute: 60,
  });
}
