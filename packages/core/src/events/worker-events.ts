import type { Notice } from '../contract/index.ts';
import type { ErrorCode } from '../errors/index.ts';

/** How an attempt ended, once the store has confirmed it. `lease-lost`: nothing was settled. `unknown`: the answer was lost. */
export type AttemptOutcome =
  | 'completed'
  | 'cancelled'
  | 'retried'
  | 'dead'
  | 'released'
  | 'snoozed'
  | 'lease-lost'
  | 'unknown';

/** The end of one attempt, or of a job that was settled without a start (`durationMs` null). */
export interface AttemptEvent {
  readonly jobId: string;
  readonly type: string;
  readonly queue: string;
  readonly attempt: number;
  readonly outcome: AttemptOutcome;
  readonly durationMs: number | null;
  /** How long the job had been ready when it was claimed. */
  readonly waitMs: number;
  readonly errorClass: string | null;
  readonly code: string | null;
  readonly message: string | null;
}

/** Every event of a worker. */
export interface WorkerEvents {
  readonly started: {
    readonly jobId: string;
    readonly type: string;
    readonly queue: string;
    readonly attempt: number;
  };
  readonly attempt: AttemptEvent;
  /** A job went to the dead letters, by whatever road. */
  readonly dead: AttemptEvent;
  readonly 'lease-lost': {
    readonly jobId: string;
    readonly type: string;
    readonly queue: string;
    readonly attempt: number;
    readonly reason: string;
    /** Longest time the event loop did not run since the lease was last known to hold. */
    readonly loopBlockedMs: number;
  };
  /** A handler goes on after its attempt was settled; its slot stays taken. `ended`: it has returned at last, or was given up. */
  readonly zombie: {
    readonly jobId: string;
    readonly type: string;
    readonly queue: string;
    readonly state: 'running' | 'ended' | 'given-up';
  };
  readonly paused: { readonly queue: string };
  readonly resumed: { readonly queue: string };
  readonly degraded: { readonly reason: string; readonly code: ErrorCode | null };
  readonly recovered: { readonly reason: string };
  readonly notice: Notice;
  readonly 'age-alert': {
    readonly queue: string;
    readonly state: 'raised' | 'cleared';
    readonly oldestReadyAgeMs: number | null;
    readonly limitMs: number;
  };
  readonly state: { readonly state: WorkerState };
}

/** Life of a worker. */
export type WorkerState = 'new' | 'starting' | 'running' | 'stopping' | 'stopped';
