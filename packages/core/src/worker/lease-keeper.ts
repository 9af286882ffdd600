import type { Capabilities, Claim, Lease, Notice, RenewOutcome } from '../contract/index.ts';
import { SuretyError } from '../errors/index.ts';
import { PauseAfterFailure } from '../retry/pause-after-failure.ts';
import type { GuardedCalls } from '../startup/guarded-calls.ts';
import type { Attempt } from './attempt.ts';
import { LeaseGroup } from './lease-group.ts';

/** What the keeper tells its worker. */
export interface LeaseKeeperEvents {
  /** The lease is over: nothing may be settled any more. */
  readonly lost: (attempt: Attempt, reason: string) => void;
  /** A renewal has ended; settlements that waited for it may go. */
  readonly renewed: () => void;
  readonly failed: (error: unknown) => void;
  readonly recovered: () => void;
}

/** Leases kept for asking whether renewing works again, when none is left to renew. Their answer is lease-lost, which is an answer. */
const PROBES = 3;

/** Renews what the worker holds from a third of the lease on, and drops what it could not keep. */
export class LeaseKeeper {
  readonly #calls: GuardedCalls;
  readonly #capabilities: Capabilities;
  readonly #leaseMs: number;
  readonly #timeoutMs: number;
  readonly #events: LeaseKeeperEvents;
  readonly #groups = new Set<LeaseGroup>();
  readonly #pause = new PauseAfterFailure();
  #probes: Lease[] = [];
  #failingSince: number | null = null;
  #nextProbeAt = 0;
  #probing = false;
  lastOkAt: number | null = null;

  constructor(
    calls: GuardedCalls,
    capabilities: Capabilities,
    leaseMs: number,
    timeoutMs: number,
    events: LeaseKeeperEvents,
  ) {
    this.#calls = calls;
    this.#capabilities = capabilities;
    this.#leaseMs = leaseMs;
    // An answer that takes longer than half a lease comes too late to help, and settlements wait for it.
    this.#timeoutMs = Math.max(1, Math.min(timeoutMs, Math.floor(leaseMs / 2)));
    this.#events = events;
  }

  group(claim: Pick<Claim, 'leasedAt'>): LeaseGroup {
    return new LeaseGroup(claim, this.#leaseMs, this.#capabilities.lease.marginMs);
  }

  add(attempt: Attempt): void {
    attempt.group.live.add(attempt);
    this.#groups.add(attempt.group);
  }

  remove(attempt: Attempt): void {
    attempt.group.live.delete(attempt);
    if (attempt.group.live.size === 0) this.#groups.delete(attempt.group);
  }

  /** Renewals have failed for longer than a lease: what is claimed now could not be kept. */
  isBlocked(now: number): boolean {
    return this.#failingSince !== null && now - this.#failingSince > this.#leaseMs;
  }

  tick(now: number): void {
    const due: LeaseGroup[] = [];
    for (const group of this.#groups) {
      if (group.isOver(now)) this.#drop(group);
      else if (now >= group.renewAt && group.renewing === null) due.push(group);
    }
    if (due.length > 0) this.#renew(due, now);
    else if (this.#groups.size === 0 && this.#probes.length === 0 && !this.#probing) this.#forget();
    else if (this.isBlocked(now) && now >= this.#nextProbeAt) this.#probe(now);
  }

  /** Where a connection was lost leases may have ended with it: a renewal now tells their handlers, not the next one in turn. */
  heard({ kind }: Notice): void {
    if (kind !== 'degraded' || this.#capabilities.lease.endsBy !== 'time-or-connection') return;
    const now = performance.now();
    for (const group of this.#groups) group.renewAt = Math.min(group.renewAt, now);
    this.tick(now);
  }

  #drop(group: LeaseGroup): void {
    for (const attempt of group.live) {
      // What is on the wire was sent in time; its answer decides.
      if (attempt.inFlight) continue;
      if (this.#probes.length < PROBES) this.#probes.push(attempt.lease);
      this.#events.lost(attempt, 'its time was over before it could be renewed');
      this.remove(attempt);
    }
  }

  #renew(groups: readonly LeaseGroup[], sentAt: number): void {
    const batches = batchesOf(groups, this.#capabilities.batch.maxItems);
    const all = Promise.all(batches.map((batch) => this.#call(batch, sentAt))).then(() => {
      for (const group of groups) group.renewing = null;
      this.#events.renewed();
    });
    for (const group of groups) {
      group.renewing = all;
      // Answered or not, not again before a tenth of the lease has passed.
      group.renewSoon(sentAt, this.#leaseMs);
    }
  }

  async #call(attempts: readonly Attempt[], sentAt: number): Promise<void> {
    try {
      const leases = attempts.map(({ lease }) => lease);
      const outcomes = await this.#calls.renew(leases, this.#leaseMs, { timeoutMs: this.#timeoutMs });
      if (!Array.isArray(outcomes))
        throw new SuretyError('ADAPTER_BROKE_CONTRACT', 'renew answered no list of outcomes.');
      this.#succeeded();
      this.#extend(attempts, outcomes, sentAt);
      attempts.forEach((attempt, index) => this.#judge(attempt, outcomes[index]));
    } catch (error) {
      this.#failed(error);
    }
  }

  /** A group ends with the lease of it that ends first; a store may give less than was asked. */
  #extend(attempts: readonly Attempt[], outcomes: readonly RenewOutcome[], sentAt: number): void {
    const shortest = new Map<LeaseGroup, number>();
    for (const [index, { group }] of attempts.entries()) {
      const outcome = outcomes[index];
      if (outcome?.status !== 'renewed') continue;
      const given = Number.isFinite(outcome.leaseMs) ? outcome.leaseMs : this.#leaseMs;
      shortest.set(group, Math.min(given, shortest.get(group) ?? this.#leaseMs));
    }
    for (const [group, leaseMs] of shortest) group.extend(sentAt, leaseMs, this.#capabilities.lease.marginMs);
  }

  /** What is on the wire was sent in time, and its own answer decides: a settled lease is lost to a renewal that came later. */
  #judge(attempt: Attempt, outcome: RenewOutcome | undefined): void {
    if (outcome?.status !== 'lease-lost' || attempt.state === 'gone' || attempt.inFlight) return;
    this.#events.lost(attempt, 'the store had ended it');
    this.remove(attempt);
  }

  #probe(now: number): void {
    const probes = this.#probes;
    if (this.#probing || probes.length === 0) return;
    this.#probing = true;
    this.#calls
      .renew(probes, this.#leaseMs, { timeoutMs: this.#timeoutMs })
      .then(
        () => this.#succeeded(),
        (error: unknown) => this.#failed(error),
      )
      .finally(() => {
        this.#probing = false;
        this.#nextProbeAt = Math.max(this.#nextProbeAt, now);
      });
  }

  #succeeded(): void {
    this.lastOkAt = performance.now();
    this.#probes = [];
    this.#forget();
  }

  /** Nothing is held and nothing was dropped: what failed belongs to the past, and the next lease will show. */
  #forget(): void {
    this.#failingSince = null;
    if (this.#pause.succeeded()) this.#events.recovered();
  }

  #failed(error: unknown): void {
    const now = performance.now();
    this.#failingSince ??= now;
    this.#nextProbeAt = now + this.#pause.failed();
    this.#events.failed(error);
  }
}

/** What is not on the wire, in calls of at most `size`; a group is never split, so that one call decides its end. */
function batchesOf(groups: readonly LeaseGroup[], size: number): Attempt[][] {
  const batches: Attempt[][] = [];
  let last: Attempt[] = [];
  for (const group of groups) {
    const attempts = [...group.live].filter((attempt) => !attempt.inFlight);
    if (attempts.length === 0) continue;
    if (batches.length === 0 || last.length + attempts.length > size) batches.push((last = []));
    last.push(...attempts);
  }
  return batches;
}
