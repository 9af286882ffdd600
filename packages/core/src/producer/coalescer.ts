import type { Backend, EnqueueOutcome, NewJob } from '../contract/index.ts';
import { isSuretyError, SuretyError } from '../errors/index.ts';

interface Waiting {
  readonly job: NewJob;
  readonly bytes: number;
  readonly deadlineAt: number;
  readonly resolve: (outcome: EnqueueOutcome) => void;
}

/** How much may wait in this process; past it an enqueue is refused at once, so that an outage cannot fill the memory. */
export interface CoalescerLimits {
  readonly maxItems: number;
  readonly maxBytes: number;
}

/**
 * Turns concurrent single enqueues into batches. A call goes out at the end of the current microtask round when none is
 * under way; what comes meanwhile waits for its return and goes as one batch. So a lone enqueue pays no delay, and many share
 * one round trip (and one fsync). Every caller gets the answer of its own item.
 */
export class Coalescer {
  readonly #backend: Backend;
  readonly #limits: CoalescerLimits;
  #waiting: Waiting[] = [];
  #pendingItems = 0;
  #pendingBytes = 0;
  #scheduled = false;
  #inFlight = 0;
  #idle: (() => void)[] = [];
  /** Two calls hide the round trip of one behind the other's work; more only make smaller batches. */
  static readonly CALLS = 2;

  constructor(backend: Backend, limits: CoalescerLimits) {
    this.#backend = backend;
    this.#limits = limits;
  }

  /** Resolves with the outcome of this job; never rejects. */
  add(job: NewJob, timeoutMs: number): Promise<EnqueueOutcome> {
    const bytes = job.payload.length * 2 + 300;
    if (this.#pendingItems >= this.#limits.maxItems || this.#pendingBytes + bytes > this.#limits.maxBytes) {
      const error = new SuretyError(
        'CLIENT_OVERLOADED',
        `${this.#pendingItems} enqueues wait in this process.`,
        { jobId: job.id },
      );
      return Promise.resolve({ status: 'rejected', id: job.id, error });
    }
    this.#pendingItems += 1;
    this.#pendingBytes += bytes;
    return new Promise((resolve) => {
      this.#waiting.push({ job, bytes, deadlineAt: performance.now() + timeoutMs, resolve });
      this.#schedule();
    });
  }

  /** Resolves once nothing waits or is under way. */
  drained(): Promise<void> {
    if (this.#pendingItems === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #schedule(): void {
    if (this.#scheduled || this.#inFlight >= Coalescer.CALLS || this.#waiting.length === 0) return;
    // The second call only for a batch worth while: otherwise a stream of singles would go out one by one.
    if (this.#inFlight > 0 && this.#waiting.length < 32) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      void this.#send(this.#take());
    });
  }

  #take(): Waiting[] {
    const { maxItems, maxBytes } = this.#backend.capabilities.batch;
    let bytes = 0;
    let count = 0;
    for (const item of this.#waiting) {
      bytes += item.bytes;
      if (count === maxItems || (count > 0 && bytes > maxBytes)) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 0) return;
    this.#inFlight += 1;
    const now = performance.now();
    const live = batch.filter((item) => item.deadlineAt > now);
    for (const item of batch) if (item.deadlineAt <= now) this.#end(item, tooLate(item.job));
    if (live.length > 0) await this.#call(live, Math.min(...live.map((item) => item.deadlineAt)) - now);
    this.#inFlight -= 1;
    this.#schedule();
    if (this.#pendingItems === 0) for (const wake of this.#idle.splice(0)) wake();
  }

  async #call(live: readonly Waiting[], timeoutMs: number): Promise<void> {
    const jobs = live.map((item) => item.job);
    const outcomes = await enqueueGuarded(this.#backend, jobs, Math.max(1, timeoutMs));
    live.forEach((item, index) => this.#end(item, outcomes[index] ?? missing(item.job)));
  }

  #end(item: Waiting, outcome: EnqueueOutcome): void {
    this.#pendingItems -= 1;
    this.#pendingBytes -= item.bytes;
    item.resolve(outcome);
  }
}

/** A backend call whose failure becomes an outcome per item: what may be stored is unknown, never rejected. */
export async function enqueueGuarded(
  backend: Backend,
  jobs: readonly NewJob[],
  timeoutMs: number,
): Promise<readonly EnqueueOutcome[]> {
  try {
    return await backend.enqueue(jobs, { timeoutMs });
  } catch (error) {
    const known = isSuretyError(error) && error.retryable !== 'unknown';
    return jobs.map(({ id }) =>
      known
        ? { status: 'rejected', id, error }
        : {
            status: 'unknown',
            id,
            error: new SuretyError('OUTCOME_UNKNOWN', 'The store broke off.', { jobId: id, cause: error }),
          },
    );
  }
}

function tooLate(job: NewJob): EnqueueOutcome {
  const error = new SuretyError(
    'BACKEND_TIMEOUT',
    'The enqueue waited behind others until its time was over; it was not sent.',
    { jobId: job.id },
  );
  return { status: 'rejected', id: job.id, error };
}

function missing(job: NewJob): EnqueueOutcome {
  const error = new SuretyError('ADAPTER_BROKE_CONTRACT', 'The adapter gave no outcome for this job.', {
    jobId: job.id,
  });
  return { status: 'unknown', id: job.id, error };
}
