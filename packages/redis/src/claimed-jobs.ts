import type { Lease, LeaseToken } from '@surety/core/contract';

/** Characters of an id. */
export const ID_LENGTH = 36;

/** A lease as a claim gave it. */
export interface PlacedLease extends Lease {
  /** Of its job in the claim, from 1. */
  readonly place: number;
}

/** What a claim took: the ids in its order, as one text. */
interface ClaimedJobs {
  readonly queue: string;
  readonly ids: string;
}

/** By the token that all leases of an answer share. */
const jobsOf = new WeakMap<LeaseToken, ClaimedJobs>();

/** So that a completion can be told to the store by its place, a short number: many ids cost both sides more than all else that is done with it. */
export function rememberJobs(token: LeaseToken, queue: string, ids: string): void {
  jobsOf.set(token, { queue, ids });
}

/** Finds the places of leases, of which most have the token of the one before. */
export class Places {
  #token: LeaseToken | null = null;
  #jobs: ClaimedJobs | undefined;

  /** Null: the lease is not as a claim of ours gave it, so only its id says which job is meant. */
  of(lease: Lease): number | null {
    const { token, id, queue } = lease;
    const { place } = lease as Partial<PlacedLease>;
    if (token !== this.#token) {
      this.#token = token;
      this.#jobs = jobsOf.get(token);
    }
    const jobs = this.#jobs;
    if (jobs === undefined || place === undefined || jobs.queue !== queue) return null;
    return id.length === ID_LENGTH && jobs.ids.startsWith(id, (place - 1) * ID_LENGTH) ? place : null;
  }
}
