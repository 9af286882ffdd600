import type { Capabilities, Claim, Lease } from '../contract/index.ts';
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
    this.#timeoutMs = timeoutMs;
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
    else if (this.isBlocked(now) && now >= this.#nextProbeAt) this.#probe(now);
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
    const size = this.#capabilities.batch.maxItems;
    const attempts = groups.flatMap((group) => [...group.live].filter((attempt) => !attempt.inFlight));
    const calls: Promise<void>[] = [];
    for (let at = 0; at < attempts.length; at += size)
      calls.push(this.#call(attempts.slice(at, at + size), sentAt));
    const all = Promise.all(calls).then(() => {
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
      const outcomes = await this.#calls.renew(
        attempts.map(({ lease }) => lease),
        this.#leaseMs,
        { timeoutMs: this.#timeoutMs },
      );
      this.#succeeded();
      attempts.forEach((attempt, index) =>
        this.#judge(attempt, outcomes[index]?.status ?? 'lease-lost', sentAt),
      );
    } catch (error) {
      this.#failed(error);
    }
  }

  #judge(attempt: Attempt, status: 'renewed' | 'lease-lost', sentAt: number): void {
    if (attempt.state === 'gone' || attempt.inFlight) return;
    if (status === 'renewed') {
      attempt.group.extend(sentAt, this.#leaseMs, this.#capabilities.lease.marginMs);
      return;
    }
    this.#events.lost(attempt, 'the store had ended it');
    this.remove(attempt);
  }

  #probe(now: number): void {
    const probes = this.#probes;
    if (this.#probing || probes.length === 0) {
      // Nothing to ask with: what failed belongs to the past, and the next claim will show.
      if (!this.#probing) this.#succeeded();
      return;
    }
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
    this.#failingSince = null;
    this.#probes = [];
    if (this.#pause.succeeded()) this.#events.recovered();
  }

  #failed(error: unknown): void {
    const now = performance.now();
    this.#failingSince ??= now;
    this.#nextProbeAt = now + this.#pause.failed();
    this.#events.failed(error);
  }
}
