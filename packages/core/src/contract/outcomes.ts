import type { CountKind } from './capabilities.ts';
import type { DeadLetter } from './job.ts';
import type { Lease } from './lease.ts';

/**
 * The shape of every error that crosses the contract; `SuretyError` of the package's root is the class behind it.
 * The type stands here so that the contract imports nothing.
 */
export interface ContractError extends Error {
  readonly code: string;
  readonly retryable: 'yes' | 'no' | 'unknown';
  readonly adapter: string | null;
  readonly operation: string | null;
  readonly jobId: string | null;
}

/** Per item of `enqueue`. Only `accepted` and `duplicate` say that a job of this id or key is stored (G1.1). */
export type EnqueueOutcome =
  | { readonly status: 'accepted'; readonly id: string }
  /** Nothing was stored: `of` is the job that holds the dedupe key, or the same id when that id is still stored. */
  | { readonly status: 'duplicate'; readonly id: string; readonly of: string }
  /** Certainly not stored. */
  | { readonly status: 'rejected'; readonly id: string; readonly error: ContractError }
  /** May be stored. Repeating it with the same id is safe where `idempotentEnqueue` holds. */
  | { readonly status: 'unknown'; readonly id: string; readonly error: ContractError };

/** Per lease of `renew`; `leaseMs` is what is left from the sending of the call on. */
export type RenewOutcome =
  | { readonly status: 'renewed'; readonly leaseMs: number }
  | { readonly status: 'lease-lost' };

/** Per settlement. `lease-lost`: nothing was changed. `unknown`: the answer was lost; settle again or let the lease end. */
export type SettleOutcome =
  | { readonly status: 'settled' }
  | { readonly status: 'lease-lost' }
  | { readonly status: 'unknown'; readonly error: ContractError };

/** Answer of a claim. An empty one proves nothing. */
export interface Claim {
  readonly leases: readonly Lease[];
  /** The queue is paused; `leases` is empty then. */
  readonly paused: boolean;
  /**
   * `performance.now()` of this process from which the lease runs: the sending of the statement that leased (stores), or
   * the last moment the event loop was known to run before the answer was read (long polls, pushed deliveries).
   */
  readonly leasedAt: number;
}

/** A figure with how far it can be believed (G5). */
export interface Count {
  readonly value: number | null;
  readonly kind: CountKind;
}

/** What is where in one queue. A job that is due counts as ready, moved or not; a lease that ended counts as ready. */
export interface QueueCounts {
  readonly ready: Count;
  readonly scheduled: Count;
  readonly leased: Count;
  readonly dead: Count;
  /** From the due time of the oldest ready job on, never from its enqueue; null when none is ready. */
  readonly oldestReadyAgeMs: Count;
}

/** A page of dead letters; `cursor` null: the last one. */
export interface DeadLetterPage {
  readonly entries: readonly DeadLetter[];
  readonly cursor: string | null;
}

/** Per id of a redrive or discard. `conflict`: another live record holds the dedupe key; the job stays dead. */
export type RedriveOutcome =
  | { readonly status: 'redriven' | 'not-found'; readonly id: string }
  | { readonly status: 'conflict'; readonly id: string; readonly of: string };
/** See {@link RedriveOutcome}. */
export type DiscardOutcome = { readonly status: 'discarded' | 'not-found'; readonly id: string };

/** What an adapter reports besides its answers. It does not log; core does. A notice never carries a payload or a password. */
export type Notice =
  /** Working, but not as well as promised (polling instead of being woken, a lost connection being rebuilt). */
  | { readonly kind: 'degraded'; readonly reason: string; readonly error: ContractError | null }
  | { readonly kind: 'recovered'; readonly reason: string }
  | { readonly kind: 'warning'; readonly code: string; readonly message: string }
  /** Jobs of the queue will reach the broker's retention and be lost if nobody takes them. */
  | { readonly kind: 'retention-near'; readonly queue: string; readonly leftMs: number };
