/** The version of the format. A reader refuses a later one. */
export const TRACE_VERSION = 1;

/** What every line has. */
export interface LineHead {
  /** Of the process that wrote it; as in its `open` line. */
  readonly process: string;
  /** Counts the lines of the process, over all its files. */
  readonly seq: number;
  /** The host's monotonic clock in ms. */
  readonly at: number;
  /** The store's clock in ms since the epoch, where the writer knows it. */
  readonly storeAt?: number;
}

/** Why a call has no answer. `retryable` other than `unknown`: nothing was done. */
export interface CallError {
  readonly code: string;
  readonly retryable: 'yes' | 'no' | 'unknown';
}

/** A job as it is enqueued. What is left out: no delay, no limit of its own. */
export interface EnqueuedJob {
  readonly id: string;
  readonly queue: string;
  readonly type?: string;
  readonly delayMs?: number;
  readonly maxAttempts?: number;
}

/** A lease as it was handed out. */
export interface ClaimedLease {
  /** A number that the process gives to each lease that it receives. */
  readonly lease: number;
  readonly id: string;
  readonly type?: string;
  /** The token: nonce of the claim, and fence (0 where there is none). */
  readonly nonce: string;
  readonly fence: number;
  /** The nonce of the copy, where the store can have several of one job. */
  readonly copy?: string;
  readonly attempt: number;
  readonly lostClaims?: number;
  readonly redrives?: number;
  readonly maxAttempts?: number;
  readonly waitedMs?: number;
}

/** How one lease is ended. */
export interface TracedSettlement {
  readonly lease: number;
  readonly id: string;
  readonly do: 'complete' | 'retry' | 'bury' | 'release';
  /** Of a completion, where it is not `completed`. */
  readonly outcome?: 'cancelled';
  /** Of a retry or release. */
  readonly delayMs?: number;
  /** Of a release. */
  readonly reason?: string;
  /** Of a retry or burial: the error's code. */
  readonly code?: string;
}

/** A job that the store still holds. */
export interface FoundJob {
  readonly id: string;
  readonly state: 'ready' | 'scheduled' | 'leased' | 'dead' | 'completed' | 'cancelled';
  /** Of a dead letter: why it died, and whether its last error is there. */
  readonly reason?: string;
  readonly hasError?: boolean;
}

/** What a fault explains. */
export interface FaultFacts {
  /** Of a fault that lasts; left out: a moment. */
  readonly phase?: 'begin' | 'end';
  /** Each of these may have one copy more because of it: a broker's duplicate, a message that was published again. */
  readonly jobs?: readonly string[];
  /** Settlements that were confirmed while it lasted, or within a second of it, may be undone by it. */
  readonly mayUndo?: boolean;
  readonly note?: string;
}

/** One selection of dead letters. */
interface Selection {
  readonly ids?: readonly string[];
  readonly type?: string | null;
  readonly limit?: number;
}

/** The kinds of lines that answer a call. */
export type AnswerKind = 'enqueued' | 'claimed' | 'renewed' | 'settled' | 'redriven' | 'discarded';

/** What happened, by kind. Lines with `call` come in pairs: before the call reaches the store, and after its answer. */
export type TraceEvent =
  | {
      readonly kind: 'open';
      readonly v: number;
      /** Processes with one host share a monotonic clock. */
      readonly host: string;
      readonly pid: number;
      /** ISO 8601, for people. */
      readonly wall: string;
    }
  /** The process closed its file in good order: it did not die. */
  | { readonly kind: 'close' }
  | {
      readonly kind: 'backend';
      readonly name: string;
      readonly moves: 'atomic' | 'copy';
      readonly attempts: 'exact' | 'upper-bound';
      readonly fence: 'monotonic' | 'none';
      readonly endsBy: 'time' | 'time-or-connection';
      readonly reclaimBoundMs: number;
      readonly marginMs: number;
    }
  /** What a worker allows each type of job. */
  | { readonly kind: 'worker'; readonly limits: Readonly<Record<string, number>> }
  | {
      readonly kind: 'enqueue';
      readonly call: number;
      readonly tx?: true;
      readonly jobs: readonly EnqueuedJob[];
    }
  /** Per job `accepted`, `rejected`, `unknown` or `duplicate:<id of the job that is stored>`. */
  | { readonly kind: 'enqueued'; readonly call: number; readonly outcomes: readonly string[] }
  | {
      readonly kind: 'claim';
      readonly call: number;
      readonly queue: string;
      readonly max: number;
      readonly leaseMs: number;
      readonly nonce: string;
    }
  | {
      readonly kind: 'claimed';
      readonly call: number;
      readonly paused?: true;
      /** From when the leases run, by the host's clock: the sending of what leased, or the last moment known to be before it. */
      readonly leasedAt: number;
      readonly leases: readonly ClaimedLease[];
    }
  /** A handler starts. */
  | { readonly kind: 'start'; readonly lease: number; readonly id: string }
  /** A handler is about to do something outside. */
  | { readonly kind: 'effect'; readonly lease: number; readonly id: string; readonly name: string }
  | {
      readonly kind: 'renew';
      readonly call: number;
      readonly leaseMs: number;
      readonly leases: readonly number[];
    }
  /** Per lease what is left of it in ms, or null: lease-lost. */
  | { readonly kind: 'renewed'; readonly call: number; readonly outcomes: readonly (number | null)[] }
  | { readonly kind: 'settle'; readonly call: number; readonly settlements: readonly TracedSettlement[] }
  /** Per settlement `settled`, `lease-lost` or `unknown`. */
  | { readonly kind: 'settled'; readonly call: number; readonly outcomes: readonly string[] }
  /** A job is in the dead letters. */
  | { readonly kind: 'dead'; readonly lease: number; readonly id: string; readonly code: string }
  | ({ readonly kind: 'redrive' | 'discard'; readonly call: number; readonly queue: string } & Selection)
  /** Per job `redriven`, `discarded`, `not-found` or `conflict`. */
  | {
      readonly kind: 'redriven' | 'discarded';
      readonly call: number;
      readonly outcomes: readonly { readonly id: string; readonly status: string }[];
    }
  /** The answer that is none. */
  | { readonly kind: AnswerKind; readonly call: number; readonly error: CallError }
  /** What the adapter told by itself. */
  | { readonly kind: 'notice'; readonly notice: string; readonly text: string }
  | ({ readonly kind: 'fault'; readonly fault: string } & FaultFacts)
  /** Jobs that the store holds at the end, and ids that it was asked for and does not know. */
  | {
      readonly kind: 'found';
      readonly queue: string;
      readonly jobs: readonly FoundJob[];
      readonly absent?: readonly string[];
    }
  /** How many it holds at the end; null: it cannot tell. `deadListed`: every dead letter has its place in a `found` line. */
  | {
      readonly kind: 'final';
      readonly queue: string;
      readonly ready: number | null;
      readonly scheduled: number | null;
      readonly leased: number | null;
      readonly dead: number | null;
      readonly deadListed: boolean;
    };

/** A line of a trace. */
export type TraceLine = TraceEvent & LineHead;
