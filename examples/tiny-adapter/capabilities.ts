// region: capabilities
import { type Capabilities, MAX_DELAY_MS } from '@surety/core/contract';

/** What this backend states. Each value is a limit, and the suite goes to it. */
export const CAPABILITIES = Object.freeze({
  moves: 'atomic',
  durability: 'memory', // gone with the process; nothing stronger is claimed, so nothing stronger is asked
  retentionMs: null,
  delay: { maxMs: MAX_DELAY_MS, granularityMs: 1 },
  lease: { minMs: 100, maxMs: 86_400_000, marginMs: 10, endsBy: 'time', reclaimBoundMs: 100 },
  attempts: 'exact',
  fence: 'monotonic',
  idempotentEnqueue: 'while-present',
  claimReplay: false,
  dedupe: 'none',
  priority: 'none',
  maxDepth: 'none',
  counts: { ready: 'exact', scheduled: 'exact', leased: 'exact', dead: 'exact' },
  oldestReadyAge: 'exact',
  deadLetters: { order: 'newest-first', cursor: false, byId: 'indexed', retentionMs: null },
  pacing: { boundMs: 50 },
  payload: { maxBytes: 1024 * 1024 },
  batch: { maxItems: 100, maxBytes: 16 * 1024 * 1024 },
  sessions: 'one-process',
  lookup: false,
  transactional: false,
  stopBoundMs: 500,
  idleOperationsPerMinute: 6000,
} as const satisfies Capabilities);
// endregion
