import { randomUUID } from 'node:crypto';
import type { Claim } from '../contract/index.ts';

/** One claim about to be sent. */
export interface ClaimTicket {
  readonly nonce: string;
  /** When a claim with this nonce was first sent. */
  readonly sentAt: number;
  /** The answer of an earlier one was lost: this asks what it held. */
  readonly isReplay: boolean;
}

/** Remembers the nonces of claims whose answer was lost, so that the next claim learns what it held and nobody is charged (G2.6). */
export class ClaimReplay {
  readonly #worthMs: number;
  #lost: readonly ClaimTicket[] = [];

  /** Half a lease later what the lost answer held is no longer worth having: its end is near, and it ends by itself. */
  constructor(offered: boolean, leaseMs: number) {
    this.#worthMs = offered ? leaseMs / 2 : 0;
  }

  get isPending(): boolean {
    return this.#lost.length > 0;
  }

  ticket(now: number): ClaimTicket {
    return this.#lost[0] ?? { nonce: randomUUID(), sentAt: now, isReplay: false };
  }

  answered(ticket: ClaimTicket, claim: Claim): Claim {
    this.#forget(ticket);
    // A replayed claim was leased by its first sending, not by this one.
    return ticket.isReplay ? { ...claim, leasedAt: Math.min(claim.leasedAt, ticket.sentAt) } : claim;
  }

  failed(ticket: ClaimTicket, now: number): void {
    this.#forget(ticket);
    if (now - ticket.sentAt < this.#worthMs) this.#lost = [...this.#lost, { ...ticket, isReplay: true }];
  }

  #forget({ nonce }: ClaimTicket): void {
    this.#lost = this.#lost.filter((lost) => lost.nonce !== nonce);
  }
}
