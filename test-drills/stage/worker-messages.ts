import type { Connect } from './place.ts';

/** Where a worker process can be held or killed; a handler adds points of its own by `tools.point`. */
export type Point =
  /** A claim was answered with jobs; none of them has started. */
  | 'claimed'
  /** Settlements are ready and not yet sent. */
  | 'settling'
  /** Settlements are on their way, unanswered. */
  | 'settle-sent'
  /** The store has answered settlements, core does not know it yet. */
  | 'settled'
  | 'renewing'
  | (string & {});

/** What is done to a worker from inside its process. */
export interface Sabotage {
  /** At each point the first so many passes wait for `go`. */
  readonly holds?: Readonly<Record<string, number>>;
  /** SIGKILL of itself at the first pass of the point, `afterMs` later. */
  readonly dies?: readonly { readonly at: Point; readonly afterMs: number }[];
  /** The store is asked for leases of this length, whatever the worker believes, and renewals are answered without being sent. */
  readonly endLeasesAfterMs?: number;
}

/** Options of the worker itself, as JSON; those left out are core's defaults. */
export interface WorkerSettings {
  readonly queues?: readonly string[];
  readonly concurrency?: number;
  readonly lease?: number;
  readonly grace?: number;
  readonly zombie?: number;
  readonly claimAhead?: boolean;
  readonly rate?: { readonly perSecond: number };
  readonly alert?: { readonly oldestReadyAge: number; readonly every?: number };
  readonly timeout?: number;
  /** File for its part of the history. */
  readonly trace?: string;
}

/** What a worker process is told at its start. */
export interface WorkerTask {
  readonly name: string;
  readonly connect: Connect;
  /** URL of a module that exports `handlers(tools, args): Handler[]`. */
  readonly handlers: string;
  readonly args: unknown;
  readonly settings: WorkerSettings;
  readonly sabotage: Sabotage;
  readonly clockSkewMs: number;
}

export type ToWorker =
  | { readonly kind: 'start'; readonly task: WorkerTask }
  | { readonly kind: 'go'; readonly point: Point }
  | { readonly kind: 'clock'; readonly skewMs: number }
  | { readonly kind: 'stop'; readonly drainMs: number };

export type FromWorker =
  | { readonly kind: 'started' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'stopped'; readonly report: unknown }
  | { readonly kind: 'event'; readonly event: WorkerEvent };

/** Something that a worker process has told. */
export interface WorkerEvent {
  /**
   * `at:<point>`; core's events `attempt`, `started`, `dead`, `lease-lost`, `age-alert`, `zombie`, `notice`, `state`; `on-dead` from
   * the hook; whatever the handlers tell.
   */
  readonly name: string;
  readonly data: unknown;
  /** By `monotonicMs()` of the worker's process. */
  readonly atMs: number;
}

/** What handlers get beside their jobs. */
export interface WorkerTools {
  /** Name of the worker. */
  readonly worker: string;
  /** Tells the drill something, as JSON. In the pipe when it returns, so that a kill that follows cannot lose it. */
  tell(name: string, data: unknown): void;
  /** Passes a point: waits there, or dies, if the task says so. */
  point(name: Point, data?: unknown): Promise<void>;
}
