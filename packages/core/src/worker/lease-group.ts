import type { Claim } from '../contract/index.ts';
import type { Attempt } from './attempt.ts';

/**
 * The leases of one claim: one nonce, one end. The local deadline is computed here and nowhere else: from the moment the claim
 * says its leases run, by this process's monotonic clock, less the margin for what clocks can differ.
 */
export class LeaseGroup {
  readonly live: Set<Attempt> = new Set();
  deadlineAt: number;
  renewAt: number;
  renewing: Promise<void> | null = null;
  /** When the lease was last known to hold. */
  knownAt: number;

  constructor(claim: Pick<Claim, 'leasedAt'>, leaseMs: number, marginMs: number) {
    this.knownAt = claim.leasedAt;
    this.deadlineAt = claim.leasedAt + leaseMs - marginMs;
    this.renewAt = claim.leasedAt + leaseMs / 3;
  }

  /** After a renewal that was sent at `sentAt`. */
  extend(sentAt: number, leaseMs: number, marginMs: number): void {
    this.knownAt = sentAt;
    this.deadlineAt = sentAt + leaseMs - marginMs;
    this.renewAt = sentAt + leaseMs / 3;
  }

  /** A renewal failed: again after a tenth of the lease, so that several tries fit before the end. */
  renewSoon(now: number, leaseMs: number): void {
    this.renewAt = now + leaseMs / 10;
  }

  isOver(now: number): boolean {
    return now >= this.deadlineAt;
  }
}
