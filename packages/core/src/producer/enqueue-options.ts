import type { Capabilities } from '../contract/index.ts';
import type { Duration } from '../options/duration.ts';

/** Options that every backend takes. */
export interface CommonEnqueueOptions {
  /** A UUID in lower case; made by the client when left out. Repeat an unknown enqueue with the id of its error. */
  readonly id?: string;
  /** In place of the definition's queue. */
  readonly queue?: string;
  /** Runs from the moment the store accepts the job. At most 366 days. Not together with `runAt`. */
  readonly delay?: Duration;
  /** An instant by this process's clock, turned into a delay when the call is made; the past means now. */
  readonly runAt?: Date;
  /** The application's own, and trace context. Names and values are strings; 8 KiB in all. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Stable over attempts and redrive; the id when left out. At most 256 characters. */
  readonly idempotencyKey?: string;
  /** Wins over the definition's. */
  readonly maxAttempts?: number;
  /** Not started after this instant: buried as EXPIRED. */
  readonly expiresAt?: Date;
  /** How long to wait for the store before the call fails; 10 s when left out. */
  readonly timeout?: Duration;
}

/** Options that need a capability; where the backend's type says that it lacks it, the compiler refuses them. */
export type CapableEnqueueOptions<C extends Capabilities> = (C['priority'] extends 'none'
  ? { readonly priority?: never }
  : { /** 0 is first. 1 when left out. */ readonly priority?: number }) &
  (C['dedupe'] extends 'none'
    ? { readonly dedupeKey?: never; readonly dedupeWindow?: never }
    : {
        /** The first job with a key wins until `dedupeWindow` has passed since its enqueue, whatever becomes of it. */
        readonly dedupeKey?: string;
        /** 24 h when left out. */
        readonly dedupeWindow?: Duration;
      }) &
  (C['transactional'] extends false
    ? { readonly tx?: never }
    : { /** The application's transaction: the job exists if and when it commits. */ readonly tx?: unknown });

/** Options of one enqueue. */
export type EnqueueOptions<C extends Capabilities = Capabilities> = CommonEnqueueOptions &
  CapableEnqueueOptions<C>;

/** The same for code that has checked already. */
export interface AnyEnqueueOptions extends CommonEnqueueOptions {
  readonly priority?: number;
  readonly dedupeKey?: string;
  readonly dedupeWindow?: Duration;
  readonly tx?: unknown;
}

/** Every known option, for the refusal of unknown ones. */
export const ENQUEUE_OPTIONS: readonly string[] = Object.freeze([
  'id',
  'queue',
  'delay',
  'runAt',
  'priority',
  'dedupeKey',
  'dedupeWindow',
  'headers',
  'idempotencyKey',
  'maxAttempts',
  'expiresAt',
  'timeout',
  'tx',
]);
