import { type Capabilities, MAX_DELAY_MS } from '@surety/core/contract';
import type { ResolvedOptions } from './options.ts';

/** What this backend promises. */
export interface SqliteCapabilities extends Capabilities {
  readonly moves: 'atomic';
  readonly durability: 'fsync';
  readonly fence: 'monotonic';
  readonly dedupe: { readonly maxWindowMs: number };
  readonly priority: { readonly levels: 4 };
  readonly sessions: 'one-host';
  readonly lookup: true;
  readonly transactional: true;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const MIB = 1024 * 1024;

/**
 * The limits of a batch keep one transaction at a few milliseconds, during which the event loop of the process and
 * the writers of all others wait. The margin covers how far a clock that is being slewed can run ahead over a long lease.
 */
const CAPABILITIES: SqliteCapabilities = Object.freeze({
  moves: 'atomic',
  durability: 'fsync',
  retentionMs: null,
  delay: Object.freeze({ maxMs: MAX_DELAY_MS, granularityMs: 1 }),
  lease: Object.freeze({ minMs: 100, maxMs: DAY_MS, marginMs: 20, endsBy: 'time', reclaimBoundMs: 100 }),
  attempts: 'exact',
  fence: 'monotonic',
  idempotentEnqueue: 'while-present',
  claimReplay: true,
  dedupe: Object.freeze({ maxWindowMs: MAX_DELAY_MS }),
  priority: Object.freeze({ levels: 4 }),
  maxDepth: 'exact',
  counts: Object.freeze({ ready: 'exact', scheduled: 'exact', leased: 'exact', dead: 'exact' }),
  oldestReadyAge: 'exact',
  deadLetters: Object.freeze({ order: 'newest-first', cursor: true, byId: 'indexed', retentionMs: null }),
  pacing: Object.freeze({ boundMs: 200 }),
  payload: Object.freeze({ maxBytes: MIB }),
  batch: Object.freeze({ maxItems: 500, maxBytes: 4 * MIB }),
  sessions: 'one-host',
  lookup: true,
  transactional: true,
  stopBoundMs: 500,
  idleOperationsPerMinute: 2460,
});

/** A claim that waits looks whether the file changed every `pollMs` at most, and asks again a few times a minute beside. */
export function capabilitiesFor(options: ResolvedOptions): SqliteCapabilities {
  return Object.freeze({
    ...CAPABILITIES,
    pacing: Object.freeze({ boundMs: Math.max(CAPABILITIES.pacing.boundMs, 4 * options.pollMs) }),
    idleOperationsPerMinute: Math.ceil(60_000 / options.pollMs) + 60,
  });
}
