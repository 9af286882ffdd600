import type { JobError, JobFacts } from './job.ts';

/**
 * Who holds a job. The nonce is made by the client, one per claim call, and shared by all leases of the claim.
 * Only the holder of the current token renews or settles (G2.1).
 */
export interface LeaseToken {
  readonly nonce: string;
  /** Grows with every claim of the job where the capability `fence` is `monotonic`; else 0. */
  readonly fence: number;
}

/** A claimed job. Hand back the very object that was received: an adapter may keep more in it than the type shows. */
export interface Lease extends JobFacts {
  readonly token: LeaseToken;
  /** The parsed payload, or why the stored text could not be parsed (core buries that job). */
  readonly payload: { readonly value: unknown } | { readonly unreadable: string };
  /** The second and later loss of a job is followed by one release with reason `loss-backoff`; true once that was done. */
  readonly lossBackedOff: boolean;
  /** Time since the first release with reason `unknown-type` since the last other settlement; null: none. */
  readonly unknownTypeForMs: number | null;
  /** How long it had been ready when it was claimed, by the store's clock. */
  readonly waitedMs: number;
  /** Time left until `expiresInMs` of the enqueue; null: never. May be negative. */
  readonly expiresInMs: number | null;
}

/** Why a job is handed back unharmed, and what a release with this reason changes besides. None is charged as an attempt. */
export const RELEASE_REASONS = {
  /** A started job stopped by an orderly shutdown. */
  stop: { interruptions: 1, marksUnknownType: false, marksLossBackedOff: false },
  /** Held, never started: pause, stop, no slot. */
  unstarted: { interruptions: 0, marksUnknownType: false, marksLossBackedOff: false },
  'unknown-type': { interruptions: 0, marksUnknownType: true, marksLossBackedOff: false },
  'loss-backoff': { interruptions: 0, marksUnknownType: false, marksLossBackedOff: true },
  snooze: { interruptions: 0, marksUnknownType: false, marksLossBackedOff: false },
} as const;
Object.freeze(RELEASE_REASONS);
/** See {@link RELEASE_REASONS}. */
export type ReleaseReason = keyof typeof RELEASE_REASONS;

/**
 * How a lease is ended. `complete`: the job is gone. `retry`: charged, due again after `delayMs`, error into the history.
 * `bury`: charged, into the dead letters with `error.code` as reason. `release`: refunded, due again after `delayMs`.
 * A release keeps the mark of an unknown type only when its own reason is `unknown-type` or `unstarted`.
 */
export type Settlement =
  | { readonly kind: 'complete'; readonly lease: Lease; readonly outcome: 'completed' | 'cancelled' }
  | { readonly kind: 'retry'; readonly lease: Lease; readonly delayMs: number; readonly error: JobError }
  | { readonly kind: 'bury'; readonly lease: Lease; readonly error: JobError }
  | {
      readonly kind: 'release';
      readonly lease: Lease;
      readonly delayMs: number;
      readonly reason: ReleaseReason;
    };
