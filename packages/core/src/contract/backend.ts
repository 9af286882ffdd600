import type { Capabilities } from './capabilities.ts';
import type { DeadLetter, JobView, NewJob } from './job.ts';
import type { Lease, Settlement } from './lease.ts';
import type {
  Claim,
  DeadLetterPage,
  DiscardOutcome,
  EnqueueOutcome,
  Notice,
  QueueCounts,
  RedriveOutcome,
  RenewOutcome,
  SettleOutcome,
} from './outcomes.ts';

/** The version of this contract. Core refuses a backend of another one. */
export const CONTRACT_VERSION = 1;

/** Every call that meets the network ends within `timeoutMs`: with its answer, with `unknown` outcomes or with an error. */
export interface CallOptions {
  readonly timeoutMs: number;
}

/** Options of `open`. */
export interface OpenOptions extends CallOptions {
  readonly notify: (notice: Notice) => void;
}

/** One claim. */
export interface ClaimRequest extends CallOptions {
  readonly queue: string;
  /** At least 1, at most `batch.maxItems`. Fewer may come, never more. */
  readonly max: number;
  /** Between `lease.minMs` and `lease.maxMs`. */
  readonly leaseMs: number;
  /** How long to wait for a first job (long poll); 0: ask once. On top of `timeoutMs`. */
  readonly waitMs: number;
  /** A UUID, new for every claim; repeat it to learn what a lost answer held (`claimReplay`). */
  readonly nonce: string;
  /** Ends the wait. The claim resolves with what it already holds, which the caller must then settle or release. */
  readonly signal: AbortSignal | null;
}

/**
 * A broker behind one contract. Made by a factory function; all state is its own. All methods may be called at the
 * same time, from any number of processes. Items of a batch are judged one by one: a bad one never fails its
 * neighbours (G1.3). Expected races are returned; what is thrown is broken, as an error with code and `retryable`.
 * An adapter neither retries jobs, nor logs, nor decides policy.
 */
export interface Backend<C extends Capabilities = Capabilities> {
  readonly name: string;
  readonly contractVersion: number;
  readonly capabilities: C;

  /**
   * Connects and verifies what the promise needs (schema, settings, versions); refuses with code and remedy. Holds
   * after: every other method may be called. Several processes may open at once. If the connection dies: an error with
   * `retryable: yes`, and `open` may be called again. G10.1
   */
  open(options: OpenOptions): Promise<void>;

  /** Ends waiting claims, closes what the adapter made (never what it was given), within `graceMs`. Never releases leases. Twice is once; `open` may follow. G10.2 */
  close(options: { readonly graceMs: number }): Promise<void>;

  /** From memory, no call to the store. `lastClaimOkAgoMs`: null before the first. G10.4 */
  health(): BackendHealth;

  /**
   * Stores jobs. An item answers `accepted` only when it is as durable as `durability` says (G1.1); the time until it
   * is due starts then, by the store's clock (G8.1). At the same time others may enqueue the same id or key: one is
   * accepted, the others are `duplicate` (G3.2, G3.3). Dies half-way: `unknown` for what may be stored, `rejected` for what
   * certainly is not; it never hangs (G1.2). Over `maxDepth`: `rejected` with QUEUE_FULL (G7.3).
   */
  enqueue(jobs: readonly NewJob[], options: CallOptions): Promise<readonly EnqueueOutcome[]>;

  /**
   * Leases up to `max` ready jobs, better priority first. Each carries a lease of `leaseMs` by the store's clock; until
   * its end nobody else gets the job (G2.2), after it the job is claimable again within `lease.reclaimBoundMs`, one
   * attempt charged (G2.4, G4.3). Never a job that is not due (G8.2). Nothing from a paused queue (G9.1). Due and expired
   * jobs are moved by whoever claims, in bounded steps. Dies half-way: throws; repeat with the same nonce where
   * `claimReplay` holds, else the lease ends by itself. A job past its attempts is handed out like any other.
   */
  claim(request: ClaimRequest): Promise<Claim>;

  /**
   * Extends to `leaseMs` from now, absolute, never added (G2.3). `lease-lost` when it has ended, claimed again or not.
   * May race a settle of the same lease: one of them wins, nothing else happens. Dies half-way: throws; the old end holds.
   * An empty list makes no call.
   */
  renew(leases: readonly Lease[], leaseMs: number, options: CallOptions): Promise<readonly RenewOutcome[]>;

  /**
   * Ends leases. `settled` only when durable. A lease that has ended, by time or by an earlier settlement (also in the
   * same batch), answers `lease-lost` and changes nothing (G2.1). Dies half-way: `unknown`; settling again is safe.
   */
  settle(settlements: readonly Settlement[], options: CallOptions): Promise<readonly SettleOutcome[]>;

  /** Both in one round trip, never waits (`waitMs` is 0, `signal` null): the fast path of stores. As `settle` and `claim`. */
  readonly settleAndClaim?: (
    settlements: readonly Settlement[],
    request: ClaimRequest,
  ) => Promise<{ readonly outcomes: readonly SettleOutcome[]; readonly claim: Claim }>;

  /** From the store, for anyone, at any time (G5.1, G5.2). A queue that never saw a job counts zero. */
  counts(queue: string, options: CallOptions): Promise<QueueCounts>;

  /** Queues that hold a job in any state or are paused, sorted; where the broker cannot list, those this backend has met. G5.3 */
  queues(options: CallOptions): Promise<readonly string[]>;

  readonly deadLetters: DeadLetters;
  readonly pacing: Pacing;
  /** These are absent or whole, as the capability of the same name says. */
  readonly lookup?: Lookup;
  readonly dedupe?: Dedupe;
  readonly transactional?: Transactional;
}

/** Health as the adapter sees it. */
export interface BackendHealth {
  readonly ok: boolean;
  readonly lastClaimOkAgoMs: number | null;
  readonly lastRenewOkAgoMs: number | null;
  /** One sentence when not ok. */
  readonly reason: string | null;
}

/** Dead letters of a queue (G6). Kept until discarded, or `retentionMs`. */
export interface DeadLetters {
  /** Newest first where `order` says so. A listing neither moves nor hides an entry. G6.2 */
  list(
    request: {
      readonly queue: string;
      readonly limit: number;
      readonly cursor: string | null;
      readonly type: string | null;
    },
    options: CallOptions,
  ): Promise<DeadLetterPage>;
  show(queue: string, id: string, options: CallOptions): Promise<DeadLetter | null>;
  /**
   * Ready again now, with id, idempotency key, payload, headers and history; attempts start anew, `redrives` + 1 (G6.3).
   * By ids: one outcome each, in order. By selection: up to `limit` entries, repeated by the caller until the answer
   * holds no `redriven`. Two operators at once: one redrives, the other gets `not-found`. G6.4
   */
  redrive(queue: string, selection: DeadSelection, options: CallOptions): Promise<readonly RedriveOutcome[]>;
  /** Removes for good. Selection as in `redrive`. G6.5 */
  discard(queue: string, selection: DeadSelection, options: CallOptions): Promise<readonly DiscardOutcome[]>;
}

/** Which dead letters: named ones, or up to `limit` of a type (null: of any). */
export type DeadSelection =
  | { readonly ids: readonly string[] }
  | { readonly type: string | null; readonly limit: number };

/** Pause and resume, durable and fleet-wide (G9). */
export interface Pacing {
  /** After it resolved, no claim of this backend returns a job; of others after `pacing.boundMs`. Running jobs, due times and lease ends go on. G9.1 */
  pause(queue: string, options: CallOptions): Promise<void>;
  resume(queue: string, options: CallOptions): Promise<void>;
  state(queue: string, options: CallOptions): Promise<{ readonly paused: boolean }>;
}

/** Finds one job by id (G5.4). */
export interface Lookup {
  find(queue: string, id: string, options: CallOptions): Promise<JobView | null>;
}

/** De-duplicated enqueue (G3.3): the first job with a key wins until its window has passed since its enqueue. */
export interface Dedupe {
  /** Id of the job that holds the key, done or not; null when free. */
  owner(queue: string, key: string, options: CallOptions): Promise<string | null>;
  /** Frees the key before its window has passed. */
  forget(queue: string, key: string, options: CallOptions): Promise<void>;
}

/** Enqueue inside the caller's own transaction (G1.4). */
export interface Transactional {
  /** As `enqueue`, but the jobs exist if and when `tx` commits. Throws what the transaction itself is broken by. */
  enqueue(tx: unknown, jobs: readonly NewJob[], options: CallOptions): Promise<readonly EnqueueOutcome[]>;
}
