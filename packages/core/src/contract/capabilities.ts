/**
 * What a backend promises, as values with limits. What is claimed here is proven by the conformance suite at its
 * limits; what is not claimed is refused, in types where they can tell, otherwise at start-up. Readable before `open`.
 */
export interface Capabilities {
  /** `atomic`: a job has one copy, ever. `copy`: a move is a confirmed copy followed by a settle, so a fault can leave two. */
  readonly moves: 'atomic' | 'copy';
  /** What an accepted job survives: `memory` nothing, `process-crash` the end of any process, `fsync` power loss as far as the disk tells the truth. */
  readonly durability: 'memory' | 'process-crash' | 'fsync' | { readonly replicated: number };
  /** How long the broker keeps a job that nobody takes; `null`: without a limit. */
  readonly retentionMs: number | null;
  readonly delay: { readonly maxMs: number; readonly granularityMs: number };
  readonly lease: LeaseCapability;
  /** `upper-bound`: a delivery that was never seen by a worker may be charged too. */
  readonly attempts: 'exact' | 'upper-bound';
  /** `monotonic`: `lease.token.fence` grows with every claim of a job, so that a downstream store can refuse an older holder. */
  readonly fence: 'monotonic' | 'none';
  /** `while-present`: enqueueing an id that is still stored answers `duplicate` and stores nothing. */
  readonly idempotentEnqueue: 'while-present' | 'none';
  /** A claim repeated with its nonce returns the same leases, so that a lost answer charges nobody. */
  readonly claimReplay: boolean;
  /** The window of a dedupe key runs from the accepted enqueue, whatever becomes of the job. */
  readonly dedupe: { readonly maxWindowMs: number } | 'none';
  /** Levels 0 (first) to `levels - 1`; among ready jobs of a queue a lower level is claimed first. */
  readonly priority: { readonly levels: number } | 'none';
  readonly maxDepth: 'exact' | 'approximate' | 'none';
  readonly counts: Readonly<Record<'ready' | 'scheduled' | 'leased' | 'dead', CountKind>>;
  readonly oldestReadyAge: CountKind;
  readonly deadLetters: DeadLetterCapability;
  /** A pause that has resolved holds in every process after this time. */
  readonly pacing: { readonly boundMs: number };
  /** UTF-8 bytes of one job, our envelope included. */
  readonly payload: { readonly maxBytes: number };
  /** The most that one call may carry; core splits what is larger. */
  readonly batch: { readonly maxItems: number; readonly maxBytes: number };
  /** Several processes or hosts may open the same store. */
  readonly sessions: 'one-process' | 'one-host' | 'many-hosts';
  /** The facet `lookup` is there. */
  readonly lookup: boolean;
  /** The facet `transactional` is there. */
  readonly transactional: boolean;
  /** An idle `claim` and `close` end within this time after their signal. */
  readonly stopBoundMs: number;
  /** Calls to the store that one idle worker makes per queue. */
  readonly idleOperationsPerMinute: number;
}

/** Limits of a lease. Durations in ms. */
export interface LeaseCapability {
  readonly minMs: number;
  readonly maxMs: number;
  /** Taken off the local deadline, for what the store's and the worker's clocks can differ over one lease. */
  readonly marginMs: number;
  /** `time-or-connection`: a lost connection ends its leases at once. */
  readonly endsBy: 'time' | 'time-or-connection';
  /** A lease that has ended is claimable again within this time, as long as somebody claims. */
  readonly reclaimBoundMs: number;
}

/** How far a figure can be believed. `none`: not to be had, its value is null. */
export type CountKind = 'exact' | 'approximate' | 'lower-bound' | 'upper-bound' | 'none';

/** What dead letters allow. */
export interface DeadLetterCapability {
  readonly order: 'newest-first' | 'none';
  readonly cursor: boolean;
  readonly byId: 'indexed' | 'scan';
  /** `null`: until discarded. */
  readonly retentionMs: number | null;
}
