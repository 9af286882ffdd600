import type { Capabilities } from '@surety/core/contract';
import { MAX_DELAY_MS } from '@surety/core/contract';

/** What profile `strong` promises: everything that one process can. */
export interface StrongCapabilities extends Capabilities {
  readonly moves: 'atomic';
  readonly fence: 'monotonic';
  readonly dedupe: { readonly maxWindowMs: number };
  readonly priority: { readonly levels: 4 };
  readonly lookup: true;
  readonly transactional: false;
}

/** What profile `weak` promises: no more than a message broker does. */
export interface WeakCapabilities extends Capabilities {
  readonly moves: 'copy';
  readonly fence: 'none';
  readonly dedupe: 'none';
  readonly priority: 'none';
  readonly lookup: false;
  readonly transactional: false;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Profile `strong`. */
export const STRONG: StrongCapabilities = Object.freeze({
  moves: 'atomic',
  durability: 'memory',
  retentionMs: null,
  delay: Object.freeze({ maxMs: MAX_DELAY_MS, granularityMs: 1 }),
  lease: Object.freeze({ minMs: 50, maxMs: DAY_MS, marginMs: 5, endsBy: 'time', reclaimBoundMs: 50 }),
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
  pacing: Object.freeze({ boundMs: 0 }),
  payload: Object.freeze({ maxBytes: 1024 * 1024 }),
  batch: Object.freeze({ maxItems: 1000, maxBytes: 16 * 1024 * 1024 }),
  sessions: 'one-process',
  lookup: true,
  transactional: false,
  stopBoundMs: 1000,
  idleOperationsPerMinute: 60,
});

/** How late figures and pauses are told to others in profile `weak`. */
export const WEAK_STALE_MS = 100;

/** Profile `weak`. Times are rounded up to 50 ms, and a batch is as small as the smallest broker's. */
export const WEAK: WeakCapabilities = Object.freeze({
  moves: 'copy',
  durability: 'memory',
  retentionMs: null,
  delay: Object.freeze({ maxMs: MAX_DELAY_MS, granularityMs: 50 }),
  lease: Object.freeze({
    minMs: 200,
    maxMs: DAY_MS / 2,
    marginMs: 20,
    endsBy: 'time-or-connection',
    reclaimBoundMs: 200,
  }),
  attempts: 'upper-bound',
  fence: 'none',
  idempotentEnqueue: 'none',
  claimReplay: false,
  dedupe: 'none',
  priority: 'none',
  maxDepth: 'none',
  counts: Object.freeze({
    ready: 'approximate',
    scheduled: 'approximate',
    leased: 'approximate',
    dead: 'approximate',
  }),
  oldestReadyAge: 'none',
  deadLetters: Object.freeze({ order: 'none', cursor: false, byId: 'scan', retentionMs: null }),
  pacing: Object.freeze({ boundMs: 2 * WEAK_STALE_MS }),
  payload: Object.freeze({ maxBytes: 256 * 1024 }),
  batch: Object.freeze({ maxItems: 10, maxBytes: 1024 * 1024 }),
  sessions: 'one-process',
  lookup: false,
  transactional: false,
  stopBoundMs: 1000,
  idleOperationsPerMinute: 60,
});
