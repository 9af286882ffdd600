import type {
  Backend,
  CallOptions,
  Capabilities,
  Claim,
  ClaimRequest,
  EnqueueOutcome,
  JobError,
  Lease,
  NewJob,
  Notice,
  ReleaseReason,
  Settlement,
  SettleOutcome,
} from '@surety/core/contract';
import type { Harness, HarnessNetwork } from './harness.ts';
import type { Child, ChildOptions } from './stage/children.ts';
import type { Random } from './stage/random.ts';

/** What a wait is called and how long it may take. */
export interface WaitOptions {
  readonly what: string;
  readonly withinMs: number;
  readonly everyMs?: number;
}

/** A claim with the suite's defaults: one job, a long lease, no waiting. */
export type ClaimOptions = Partial<Omit<ClaimRequest, 'queue'>> & { readonly withinMs?: number };

/** What is left of an answer once it is known to be truthy. */
export type Truthy<T> = Exclude<T, false | null | undefined | void>;

/** What a case works with. All that it opens is closed after the case, passed or not. */
export interface Context {
  readonly harness: Harness;
  readonly capabilities: Capabilities;
  /** Seeded; the seed is shown when the case fails. */
  readonly random: Random;
  /** A lease so long that no stall of the machine ends it. */
  readonly leaseMs: number;
  /** The shortest lease that is worth waiting out. */
  readonly shortLeaseMs: number;
  /** How long after the end of a lease its job may stay away: the stated bound, and a second for a busy machine. */
  readonly reclaimMs: number;
  /** The time limit of calls that meet no fault. */
  readonly call: CallOptions;

  /** Opened, with connections of its own. */
  openBackend(options?: { readonly notify?: (notice: Notice) => void }): Promise<Backend>;
  /** Made, not opened; closed after the case all the same. */
  makeBackend(options?: { readonly unreachable?: boolean }): Backend;
  /** `count` opened backends on separate connections. */
  rivals(count: number): Promise<readonly Backend[]>;
  /** A backend behind a proxy, opened. */
  openNetwork(): Promise<HarnessNetwork>;
  child(options?: ChildOptions): Promise<Child>;
  /** A name that no other case has used. */
  freshQueue(): string;

  newJob(queue: string, overrides?: Partial<NewJob>): NewJob;
  /** Enqueues `count` jobs like `overrides`, in batches within the limits; every one must be accepted. */
  put(
    backend: Backend,
    queue: string,
    count?: number,
    overrides?: Partial<NewJob>,
  ): Promise<readonly NewJob[]>;
  /** Enqueues one call; every item must be accepted. */
  accept(backend: Backend, jobs: readonly NewJob[]): Promise<void>;
  enqueue(backend: Backend, jobs: readonly NewJob[]): Promise<readonly EnqueueOutcome[]>;

  /** One claim, as it is. */
  claim(backend: Backend, queue: string, options?: ClaimOptions): Promise<Claim>;
  /** Claims until a job came: an empty answer proves nothing. */
  claimOne(backend: Backend, queue: string, options?: ClaimOptions): Promise<Lease>;
  /** Claims until `count` came, and not one more. */
  claimAll(backend: Backend, queue: string, count: number, options?: ClaimOptions): Promise<readonly Lease[]>;
  /** Asks several times: no job may come. */
  claimNone(backend: Backend, queue: string, why: string): Promise<void>;

  /** Settles; `unknown` is settled again. All must end as settled. */
  settle(backend: Backend, settlements: readonly Settlement[]): Promise<void>;
  /** One call, its answer as it is. */
  settleOnce(backend: Backend, settlements: readonly Settlement[]): Promise<readonly SettleOutcome[]>;
  complete(backend: Backend, ...leases: readonly Lease[]): Promise<void>;
  retry(backend: Backend, lease: Lease, delayMs?: number, error?: JobError): Promise<void>;
  bury(backend: Backend, lease: Lease, error?: JobError): Promise<void>;
  release(backend: Backend, lease: Lease, reason?: ReleaseReason, delayMs?: number): Promise<void>;
  /** Puts `count` jobs and buries them. */
  dead(
    backend: Backend,
    queue: string,
    count?: number,
    overrides?: Partial<NewJob>,
  ): Promise<readonly NewJob[]>;
  /** Every settlement and a renewal of the lease must answer lease-lost. */
  expectLost(backend: Backend, lease: Lease): Promise<void>;
  /** The attempt of a lease: equal where attempts are exact, else at least that. */
  expectAttempt(lease: { readonly attempt: number }, attempt: number): void;

  /** Lets a long time pass for the scheduled jobs of one queue: moves the clock, or their due times. Needs the hook `elapse`. */
  elapse(queue: string, ms: number): Promise<void>;
  /** Lets time pass at the store: moves its clock where it is virtual, else waits. */
  passTime(ms: number): Promise<void>;
  /** Lets a lease of `leaseMs` that was just taken end, and its job become claimable. */
  passLease(leaseMs: number): Promise<void>;
  /** Reading for intervals by the clock of the store: what was moved where it is virtual, else real time. */
  now(): number;
  /** The same, no later than that clock: where rivals move a virtual one together, what is still being moved is left out. */
  nowAtLeast(): number;
  /** Asks until the answer is truthy; throws what the last try threw, or that it did not happen. */
  eventually<T>(probe: () => Promise<T>, options: WaitOptions): Promise<Truthy<T>>;
  /** Asks for `forMs`: the answer must stay false. */
  never(
    probe: () => Promise<boolean>,
    options: { readonly what: string; readonly forMs: number },
  ): Promise<void>;
  /** The promise must settle within the time; the time spent is returned beside its value. */
  within<T>(
    what: string,
    limitMs: number,
    work: Promise<T>,
  ): Promise<{ readonly value: T; readonly tookMs: number }>;
}

/** An error of an attempt as core would bound it. */
export function jobError(message = 'The handler threw.', overrides: Partial<JobError> = {}): JobError {
  return { code: 'HANDLER_FAILED', name: 'Error', message, stack: null, attempt: 1, ...overrides };
}
