import { type Capabilities, MAX_DELAY_MS } from '@surety/core/contract';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Levels of priority; each has a key of its own, which every script is given. */
export const PRIORITY_LEVELS = 4;

/** What Redis and Valkey with this adapter promise. */
export type RedisCapabilities = Capabilities & {
  readonly fence: 'monotonic';
  readonly dedupe: { readonly maxWindowMs: number };
  readonly priority: { readonly levels: number };
};

/**
 * `durability` is that of `appendonly yes` with `appendfsync everysec`, as recommended; `open` states what it finds instead.
 * An idle worker looks every two seconds, and its blocking pop is renewed every ten: 36 calls a minute.
 */
export const CAPABILITIES: RedisCapabilities = Object.freeze({
  moves: 'atomic',
  durability: 'process-crash',
  retentionMs: null,
  delay: Object.freeze({ maxMs: MAX_DELAY_MS, granularityMs: 1 }),
  lease: Object.freeze({ minMs: 500, maxMs: DAY_MS, marginMs: 50, endsBy: 'time', reclaimBoundMs: 2500 }),
  attempts: 'exact',
  fence: 'monotonic',
  idempotentEnqueue: 'while-present',
  claimReplay: true,
  dedupe: Object.freeze({ maxWindowMs: MAX_DELAY_MS }),
  priority: Object.freeze({ levels: PRIORITY_LEVELS }),
  maxDepth: 'exact',
  counts: Object.freeze({ ready: 'exact', scheduled: 'exact', leased: 'exact', dead: 'exact' }),
  oldestReadyAge: 'exact',
  deadLetters: Object.freeze({ order: 'newest-first', cursor: true, byId: 'indexed', retentionMs: null }),
  pacing: Object.freeze({ boundMs: 1000 }),
  payload: Object.freeze({ maxBytes: 1024 * 1024 }),
  batch: Object.freeze({ maxItems: 500, maxBytes: 16 * 1024 * 1024 }),
  sessions: 'many-hosts',
  lookup: true,
  transactional: false,
  stopBoundMs: 1000,
  idleOperationsPerMinute: 40,
});

/** As configured: by `durability` or `confirm`, else what is recommended until `open` has looked. */
export function capabilitiesWith(durability: Capabilities['durability']): RedisCapabilities {
  return durability === CAPABILITIES.durability
    ? CAPABILITIES
    : Object.freeze({ ...CAPABILITIES, durability });
}
