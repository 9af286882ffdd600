import { type Capabilities, MAX_DELAY_MS } from '@surety/core/contract';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Levels of priority; the statements and the index are made for any number, the type of the column for many more. */
export const PRIORITY_LEVELS = 4;

/** What PostgreSQL with this adapter promises. */
export type PostgresCapabilities = Capabilities & {
  readonly fence: 'monotonic';
  readonly dedupe: { readonly maxWindowMs: number };
  readonly priority: { readonly levels: number };
};

/**
 * `durability` holds with the server's own defaults; `open` lowers it where `fsync` or `synchronous_commit` is off.
 * 500 jobs of 1 MiB are the most that one answer can hold as one string.
 */
export const CAPABILITIES: PostgresCapabilities = Object.freeze({
  moves: 'atomic',
  durability: 'fsync',
  retentionMs: null,
  delay: Object.freeze({ maxMs: MAX_DELAY_MS, granularityMs: 1 }),
  lease: Object.freeze({ minMs: 500, maxMs: DAY_MS, marginMs: 50, endsBy: 'time', reclaimBoundMs: 2000 }),
  attempts: 'exact',
  fence: 'monotonic',
  idempotentEnqueue: 'while-present',
  claimReplay: true,
  dedupe: Object.freeze({ maxWindowMs: MAX_DELAY_MS }),
  priority: Object.freeze({ levels: PRIORITY_LEVELS }),
  maxDepth: 'approximate',
  counts: Object.freeze({ ready: 'exact', scheduled: 'exact', leased: 'exact', dead: 'exact' }),
  oldestReadyAge: 'exact',
  deadLetters: Object.freeze({ order: 'newest-first', cursor: true, byId: 'indexed', retentionMs: null }),
  pacing: Object.freeze({ boundMs: 1000 }),
  payload: Object.freeze({ maxBytes: 1024 * 1024 }),
  batch: Object.freeze({ maxItems: 500, maxBytes: 16 * 1024 * 1024 }),
  sessions: 'many-hosts',
  lookup: true,
  transactional: true,
  stopBoundMs: 1000,
  idleOperationsPerMinute: 150,
});
