import type { FindingKind } from '@surety/history';
import type { Chance } from './chance.ts';

/** What the model holds of one job. A store that moves atomically: there is one copy. */
export interface ModelJob {
  readonly id: string;
  readonly limit: number;
  state: 'waiting' | 'leased' | 'dead' | 'gone';
  due: number;
  nonce: string;
  fence: number;
  end: number;
  charged: number;
  losses: number;
  redrives: number;
  reason: string;
  /** Kept back from claims until then, by the planted fault. */
  hiddenUntil: number;
  /** How often it was sent to the store; an answer said that it is stored; the last claim was answered. */
  sent: number;
  isKnown: boolean;
  isSeen: boolean;
  /** An answer that concerns the last lease was lost, and one that concerns a completion. */
  isUnclear: boolean;
  mayBeCompleted: boolean;
}

/** A lease as the model hands it out. */
export interface ModelLease {
  readonly id: string;
  readonly nonce: string;
  readonly fence: number;
  readonly attempt: number;
  readonly lostClaims: number;
  readonly redrives: number;
  readonly limit: number;
}

export type Does = 'complete' | 'retry' | 'bury' | 'release';

export const RECLAIM_BOUND_MS = 50;

/** Does what the promises say, and one planted thing that they rule out. Its time is given with every call. */
export class ModelStore {
  readonly jobs = new Map<string, ModelJob>();
  readonly plant: FindingKind | null;
  /** The job that the planted fault met; null: it found no occasion. */
  planted: string | null = null;
  /** The answer of the call under way will be lost: what it does could not be proven. */
  isMute = false;
  readonly #chance: Chance;
  readonly #sent = new Map<string, number>();
  #fence = 0;

  constructor(chance: Chance, plant: FindingKind | null) {
    this.#chance = chance;
    this.plant = plant;
  }

  /** Takes the occasion for the planted fault, once, and not always the first. */
  occasion(kind: FindingKind, id: string, share = 0.3): boolean {
    if (this.plant !== kind || this.planted !== null || this.isMute || !this.#chance.of(share)) return false;
    this.planted = id;
    return true;
  }

  /** An enqueue of it is under way, and may never arrive. */
  isSent(id: string): void {
    const sent = (this.#sent.get(id) ?? 0) + 1;
    this.#sent.set(id, sent);
    const job = this.jobs.get(id);
    if (job !== undefined) job.sent = sent;
  }

  enqueue(id: string, limit: number, delayMs: number, now: number): 'accepted' | 'duplicate' {
    const known = this.jobs.get(id);
    if (known !== undefined && known.state !== 'gone') return 'duplicate';
    this.jobs.set(id, {
      id,
      limit,
      state: 'waiting',
      due: now + delayMs,
      nonce: '',
      fence: known?.fence ?? 0,
      end: 0,
      charged: 0,
      losses: 0,
      redrives: 0,
      reason: '',
      hiddenUntil: 0,
      sent: this.#sent.get(id) ?? 1,
      isKnown: false,
      isSeen: false,
      isUnclear: false,
      mayBeCompleted: false,
    });
    return 'accepted';
  }

  claim(
    max: number,
    leaseMs: number,
    nonce: string,
    now: number,
    early: (job: ModelJob) => boolean,
  ): ModelLease[] {
    const leases: ModelLease[] = [];
    for (const job of this.jobs.values()) {
      if (leases.length === max) break;
      this.#expire(job, now);
      if (job.state !== 'waiting' || job.hiddenUntil > now) continue;
      if (job.due > now && !early(job)) continue;
      leases.push(this.lease(job, leaseMs, nonce, now));
    }
    return leases;
  }

  lease(job: ModelJob, leaseMs: number, nonce: string, now: number): ModelLease {
    const isPlain = job.sent === 1 && job.redrives === 0;
    if (!(job.isSeen && isPlain && this.occasion('fence-repeated', job.id))) job.fence = ++this.#fence;
    job.state = 'leased';
    job.nonce = nonce;
    job.end = now + leaseMs;
    job.charged += 1;
    if (isPlain && this.occasion('overcharged', job.id, 0.2)) job.charged += 1000;
    job.isSeen = !this.isMute;
    job.isUnclear = false;
    const { id, fence, charged: attempt, losses: lostClaims, redrives, limit } = job;
    return { id, nonce, fence, attempt, lostClaims, redrives, limit };
  }

  isHeld({ id, nonce }: ModelLease, now: number): boolean {
    const job = this.jobs.get(id);
    return job !== undefined && job.state === 'leased' && job.nonce === nonce && now < job.end;
  }

  renew(lease: ModelLease, leaseMs: number, now: number): boolean {
    if (!this.isHeld(lease, now)) return false;
    (this.jobs.get(lease.id) as ModelJob).end = now + leaseMs;
    return true;
  }

  settle(lease: ModelLease, does: Does, delayMs: number, code: string, now: number, late: boolean): boolean {
    const job = this.jobs.get(lease.id);
    if (job === undefined || (!late && !this.isHeld(lease, now))) return false;
    job.nonce = '';
    if (does === 'complete') job.state = 'gone';
    if (does === 'bury') Object.assign(job, { state: 'dead', reason: code });
    if (does === 'retry' || does === 'release') Object.assign(job, { state: 'waiting', due: now + delayMs });
    if (does === 'release') job.charged -= 1;
    if (does === 'retry') job.losses = 0;
    const isPlain = job.sent === 1 && job.redrives === 0 && job.isKnown && !late;
    if (does === 'complete' && isPlain && this.occasion('extra-copy', job.id))
      Object.assign(job, { state: 'waiting', due: now + 100 });
    return true;
  }

  redrive(id: string, now: number): boolean {
    const job = this.jobs.get(id);
    if (job?.state !== 'dead') return false;
    Object.assign(job, { state: 'waiting', due: now, charged: 0, losses: 0, redrives: job.redrives + 1 });
    return true;
  }

  discard(id: string): boolean {
    const job = this.jobs.get(id);
    if (job?.state !== 'dead') return false;
    job.state = 'gone';
    return true;
  }

  #expire(job: ModelJob, now: number): void {
    if (job.state !== 'leased' || now < job.end) return;
    job.state = 'waiting';
    job.losses += 1;
    job.due = job.end;
    if (job.isSeen && !job.isUnclear && this.occasion('reclaimed-late', job.id)) job.hiddenUntil = now + 1500;
    if (job.isKnown && !job.mayBeCompleted && this.occasion('lost', job.id)) job.state = 'gone';
  }
}
