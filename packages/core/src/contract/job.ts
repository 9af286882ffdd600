/** The states of a job. `completed` is not a state: the job is gone (or kept as a record where the adapter is told so). */
export const JOB_STATES = ['scheduled', 'ready', 'leased', 'dead'] as const;
/** See {@link JOB_STATES}. */
export type JobState = (typeof JOB_STATES)[number];

/** Queue names, on all backends. */
export const QUEUE_NAME: RegExp = /^[a-z0-9][a-z0-9_-]{0,39}$/;
/** Job types, on all backends. */
export const JOB_TYPE: RegExp = /^[A-Za-z0-9._:-]{1,128}$/;
/** Job ids: a UUID in lower case, made by core (version 7) or by the caller, never by the store. */
export const JOB_ID: RegExp = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** The longest delay: 366 days, so that a year is one whatever the year (G8). */
export const MAX_DELAY_MS: number = 366 * 24 * 60 * 60 * 1000;
/** Default limit of one job in UTF-8 bytes, envelope included, on every backend. */
export const DEFAULT_MAX_PAYLOAD_BYTES: number = 200 * 1024;
/** The entries of a job's error history that are kept; older ones go first, the first error stays. */
export const MAX_HISTORY: number = 5;
/** The priority of a job that names none, where the backend has levels. */
export const DEFAULT_PRIORITY: number = 1;
/** Bytes that every envelope is reckoned to take beside its payload, headers and dedupe key. */
export const ENVELOPE_BYTES: number = 512;

/** One job to store. `payload` is the text of one JSON.stringify (I-JSON), stored and given back verbatim. */
export interface NewJob {
  readonly id: string;
  readonly queue: string;
  readonly type: string;
  readonly payload: string;
  /** Trace context and the application's own; kept over retry and redrive. */
  readonly headers: Readonly<Record<string, string>>;
  /** Stable over attempts, redelivery and redrive (G3). The id unless the caller set one. */
  readonly idempotencyKey: string;
  /** 0 = ready now. The store adds it to its own clock (G8). */
  readonly delayMs: number;
  /** From the enqueue on by the store's clock; after it the job is not started. `null`: never. */
  readonly expiresInMs: number | null;
  readonly priority: number;
  readonly dedupe: { readonly key: string; readonly windowMs: number } | null;
  /** Set at enqueue only; wins over the definition's. */
  readonly maxAttempts: number | null;
  /** Refuse when ready + scheduled of the queue has reached it. `null`: no limit. */
  readonly maxDepth: number | null;
}

/** What went wrong in one attempt; bounded by core before it gets here (8 KiB as JSON). */
export interface JobError {
  readonly code: string;
  readonly name: string;
  readonly message: string;
  readonly stack: string | null;
  readonly attempt: number;
}

/** One line of a job's history; `at` by the store's clock, ISO 8601. */
export interface HistoryEntry {
  readonly at: string;
  readonly error: JobError;
}

/** What both a lease and a view of a job tell. */
export interface JobFacts {
  readonly id: string;
  readonly queue: string;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly idempotencyKey: string;
  /** Null: the definition's limit holds. */
  readonly maxAttempts: number | null;
  /** Lease: 1 for the first start. View: attempts charged so far. Since enqueue or redrive; releases are not charged. */
  readonly attempt: number;
  /** Claims known so far, over the whole life. A figure, no fence. */
  readonly deliveries: number;
  /** Claims lost (ended without a settlement) since the last complete, retry, bury or redrive. A release keeps it. */
  readonly lostClaims: number;
  /** Releases with reason `stop`. */
  readonly interruptions: number;
  readonly redrives: number;
}

/** A job as seen from outside. */
export interface JobView extends JobFacts {
  readonly state: JobState | 'completed' | 'cancelled';
  readonly priority: number;
  /** The stored text, verbatim. */
  readonly payload: string;
  /** Time until it is due; 0 or negative: due. Null when not waiting. */
  readonly dueInMs: number | null;
  readonly ageMs: number;
  readonly dedupeKey: string | null;
  readonly lastError: JobError | null;
  /** Oldest first; at most {@link MAX_HISTORY}, among them the first error. Kept over redrive. */
  readonly history: readonly HistoryEntry[];
}

/** A dead letter (G6). */
export interface DeadLetter extends JobView {
  readonly state: 'dead';
  /** By the store's clock, ISO 8601. */
  readonly deadAt: string;
  /** Why it died: the code of the burying error. */
  readonly reason: string;
}
