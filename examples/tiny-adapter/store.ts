import {
  type HistoryEntry,
  type JobError,
  type Lease,
  MAX_HISTORY,
  type NewJob,
  RELEASE_REASONS,
  type Settlement,
} from '@surety/core/contract';

// region: entry
/** A stored job. Waiting (ready once `dueAt` has come), leased, or dead: `lease` and `dead` say which. */
export interface Entry {
  readonly job: NewJob;
  readonly seq: number;
  readonly enqueuedAt: number;
  readonly expiresAt: number | null;
  dueAt: number;
  lease: { readonly nonce: string; readonly fence: number; until: number } | null;
  dead: { readonly at: number; readonly seq: number; readonly reason: string } | null;
  attempt: number;
  deliveries: number;
  lostClaims: number;
  interruptions: number;
  redrives: number;
  lossBackedOff: boolean;
  unknownTypeSince: number | null;
  history: readonly HistoryEntry[];
}
// endregion

/** The store: what a server would be. Several backends may share one. */
export interface TinyStore {
  readonly jobs: Map<string, Entry>;
  readonly paused: Set<string>;
  /** One count for the order of jobs and for fences, so that no fence is ever used twice. */
  next(): number;
  /** The store's own clock, in ms. It never steps back, whatever is done to the machine's. */
  now(): number;
}

export function createTinyStore(): TinyStore {
  let count = 0;
  return {
    jobs: new Map(),
    paused: new Set(),
    next: () => ++count,
    now: () => performance.timeOrigin + performance.now(),
  };
}

export function newEntry(store: TinyStore, job: NewJob): Entry {
  const now = store.now();
  return {
    job,
    seq: store.next(),
    enqueuedAt: now,
    expiresAt: job.expiresInMs === null ? null : now + job.expiresInMs,
    dueAt: now + job.delayMs,
    lease: null,
    dead: null,
    attempt: 0,
    deliveries: 0,
    lostClaims: 0,
    interruptions: 0,
    redrives: 0,
    lossBackedOff: false,
    unknownTypeSince: null,
    history: [],
  };
}

// region: lost
/** The entries of a queue. Leases that have ended are taken back first: charged, and ready again (G2.10, G4.3). */
export function entriesOf(store: TinyStore, queue: string): Entry[] {
  const now = store.now();
  const entries = [...store.jobs.values()].filter(({ job }) => job.queue === queue);
  for (const entry of entries) {
    if (entry.lease === null || entry.lease.until > now) continue;
    entry.dueAt = entry.lease.until;
    entry.lease = null;
    entry.attempt += 1;
    entry.deliveries += 1;
    entry.lostClaims += 1;
    entry.lossBackedOff = false;
  }
  return entries;
}
// endregion

// region: holder
/** The entry that this lease holds, or null. Only the current token counts, and only until its end (G2.1, G2.4). */
export function heldBy(store: TinyStore, lease: Lease): Entry | null {
  const entry = store.jobs.get(lease.id);
  if (entry?.lease?.fence !== lease.token.fence || entry.lease.nonce !== lease.token.nonce) return null;
  return entry.lease.until > store.now() ? entry : null;
}
// endregion

// region: settle
/** Ends a lease. The caller has made sure that it holds. */
export function end(store: TinyStore, entry: Entry, settlement: Settlement): void {
  const now = store.now();
  entry.lease = null;
  entry.deliveries += 1;
  switch (settlement.kind) {
    case 'complete':
      store.jobs.delete(entry.job.id);
      return;
    case 'retry':
      charge(entry, settlement.error, now);
      entry.dueAt = now + settlement.delayMs;
      return;
    case 'bury':
      charge(entry, settlement.error, now);
      entry.dead = { at: now, seq: store.next(), reason: settlement.error.code };
      return;
    case 'release': {
      const rule = RELEASE_REASONS[settlement.reason];
      entry.interruptions += rule.interruptions;
      if (rule.marksLossBackedOff) entry.lossBackedOff = true;
      if (rule.marksUnknownType) entry.unknownTypeSince ??= now;
      else if (settlement.reason !== 'unstarted') entry.unknownTypeSince = null;
      entry.dueAt = now + settlement.delayMs;
    }
  }
}
// endregion

function charge(entry: Entry, error: JobError, now: number): void {
  entry.attempt += 1;
  entry.lostClaims = 0;
  entry.lossBackedOff = false;
  entry.unknownTypeSince = null;
  const all = [...entry.history, { at: new Date(now).toISOString(), error }];
  // The first error stays: it tells how it began.
  entry.history = all.length <= MAX_HISTORY ? all : [...all.slice(0, 1), ...all.slice(1 - MAX_HISTORY)];
}
