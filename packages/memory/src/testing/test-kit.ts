// The kit drives the real client and worker; an application that tests with it has core anyway. The backend itself never does.
// oxlint-disable-next-line no-restricted-imports
import { type Client, createClient, type Duration, type Handler, type JobDefinition } from '@surety/core';
import type { Backend, DeadLetter, JobView } from '@surety/core/contract';
import { assemble } from '../backend.ts';
import type { StrongCapabilities } from '../capabilities.ts';
import { createVirtualClock, type VirtualClock } from '../clock/virtual-clock.ts';
import { resolveOptions } from '../options.ts';
import { deadLetterOf, viewOf } from '../store/lease-view.ts';
import type { MemoryStore } from '../store/store.ts';
import { type DrainOptions, type DrainReport, drain } from './drain.ts';
import { assertEnqueued, type EnqueuedExpectation, type EnqueuedJob, enqueuedJob } from './enqueued-jobs.ts';
import { milliseconds } from './milliseconds.ts';

/** Options of {@link createTestKit}. */
export interface TestKitOptions {
  /** What `drain` runs jobs with; none: jobs are only enqueued and looked at. */
  readonly handlers?: readonly Handler[];
  /** Where the virtual clock begins; now when left out. */
  readonly now?: Date;
}

/** Jobs in memory under a clock that stands still: what an application needs to test its producers and handlers. */
export interface TestKit extends AsyncDisposable {
  /** Give it to the code under test in place of the real backend. */
  readonly backend: Backend<StrongCapabilities>;
  readonly client: Client<StrongCapabilities>;
  /** The store behind the backend, with its fault controls. */
  readonly store: MemoryStore;
  readonly clock: VirtualClock;
  /**
   * Runs all ready jobs, and those they enqueue, through the real worker. Comes back once nothing is ready or running:
   * what is due later, retries too, waits for `advance`. Throws when a job has no handler here.
   */
  drain(options?: DrainOptions): Promise<DrainReport>;
  /** Moves the time of the store forward: due jobs become ready, leases end. `'1h'`, `'30s'`, or ms. */
  advance(by: Duration): Promise<void>;
  /** Everything that was enqueued since the kit was made, in order, done or not. */
  enqueued(): readonly EnqueuedJob[];
  /** The jobs that fit. Throws an AssertionError that lists what was enqueued. */
  assertEnqueued(
    definition: Pick<JobDefinition<never, unknown>, 'type'>,
    expectation?: EnqueuedExpectation,
  ): readonly EnqueuedJob[];
  /** What is stored in a queue now, in any state, oldest first; `default` when left out. */
  jobs(queue?: string): readonly JobView[];
  /** The dead letters of a queue, newest first; `default` when left out. */
  deadLetters(queue?: string): readonly DeadLetter[];
  /** Closes client and backend. */
  close(): Promise<void>;
}

/** Makes a kit; nothing is shared between two of them. Works with any test runner. */
export function createTestKit(options: TestKitOptions = {}): TestKit {
  const clock = createVirtualClock(options.now?.getTime() ?? Date.now());
  const resolved = resolveOptions({ clock });
  const { store } = resolved;
  const backend = assemble(resolved) as Backend<StrongCapabilities>;
  const client = createClient({ backend });
  const enqueued: EnqueuedJob[] = [];
  store.onStored = (job) => enqueued.push(enqueuedJob(job));
  const close = (): Promise<void> => client.close();

  return Object.freeze({
    backend,
    client,
    store,
    clock,
    drain: (how: DrainOptions = {}) => drain(backend, store, options.handlers ?? [], how),
    advance: (by: Duration) => clock.advance(milliseconds(by)),
    enqueued: () => [...enqueued],
    assertEnqueued: (definition: { readonly type: string }, expectation: EnqueuedExpectation = {}) =>
      assertEnqueued(enqueued, definition.type, expectation),
    jobs: (queue = 'default') => [...store.queue(queue).all()].map((copy) => viewOf(copy, clock.now())),
    deadLetters: (queue = 'default') =>
      [...store.queue(queue).dead.newestFirst()].flatMap((copy) =>
        copy.dead === null ? [] : [deadLetterOf(copy, copy.dead, clock.now())],
      ),
    close,
    [Symbol.asyncDispose]: close,
  });
}
