import type { HistoryEntry, JobState, NewJob } from '@surety/core/contract';
import type { HeapItem } from '../collections/indexed-heap.ts';
import type { Session } from './session.ts';

/** Who holds a copy. */
export interface HeldLease {
  readonly nonce: string;
  readonly fence: number;
  /** Ends at this instant of the store's clock: at it, not after it. */
  end: number;
  /** From here on the job is claimable again; later than the end where time is coarse. */
  freeAt: number;
  readonly session: Session;
}

/**
 * One stored copy of a job. Where moves are atomic a job has one for ever; where they are not, every move makes a new
 * one with a serial of its own. In exactly one place at any time: a ready line, the due heap, the lease heap, or the dead.
 */
export interface Copy extends HeapItem {
  /** The nonce of the copy. */
  readonly serial: number;
  readonly job: NewJob;
  payload: string;
  readonly enqueuedAt: number;
  readonly expiresAt: number | null;
  state: JobState;
  /** Scheduled: when it is due. Ready: since when. */
  dueAt: number;
  lease: HeldLease | null;
  /** Charged so far. */
  attempt: number;
  deliveries: number;
  lostClaims: number;
  lossBackedOff: boolean;
  interruptions: number;
  redrives: number;
  unknownTypeSince: number | null;
  history: readonly HistoryEntry[];
  dead: { readonly at: number; readonly serial: number; readonly reason: string } | null;
}

/** The first copy of an enqueued job. */
export function newCopy(job: NewJob, serial: number, now: number): Copy {
  return {
    serial,
    job,
    payload: job.payload,
    enqueuedAt: now,
    expiresAt: job.expiresInMs === null ? null : now + job.expiresInMs,
    state: 'ready',
    dueAt: now,
    lease: null,
    attempt: 0,
    deliveries: 0,
    lostClaims: 0,
    lossBackedOff: false,
    interruptions: 0,
    redrives: 0,
    unknownTypeSince: null,
    history: [],
    dead: null,
    heapIndex: -1,
  };
}

/** The same job as a copy of its own, held by nobody. */
export function copyOf(copy: Copy, serial: number): Copy {
  return { ...copy, serial, state: 'ready', lease: null, dead: null, heapIndex: -1 };
}
