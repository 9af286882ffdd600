import type { Backend, EnqueueOutcome, NewJob } from '../contract/index.ts';
import { SuretyError } from '../errors/index.ts';
import type { BackendHold } from '../startup/backend-session.ts';
import { SLACK_MS } from '../startup/in-time.ts';
import { EarliestTimer } from './earliest-timer.ts';
import { asSuretyError } from './enqueue-result.ts';
import { enqueueGuarded } from './guarded-enqueue.ts';
import { jobBytes } from './job-size.ts';

interface Waiting {
  readonly job: NewJob;
  readonly bytes: number;
  readonly deadlineAt: number;
  readonly resolve: (outcome: EnqueueOutcome) => void;
  ended: boolean;
}

/** A batch on its way. Not `sent` while the backend is being opened for it: then nothing can be stored. */
interface Call {
  items: readonly Waiting[];
  sent: boolean;
}

/** How much may wait in this process; past it an enqueue is refused at once, so that an outage cannot fill the memory. */
export interface CoalescerLimits {
  readonly maxItems: number;
  readonly maxBytes: number;
}

/** A second call at the same time only for this many: otherwise a stream of singles would go out one by one. */
const WORTH_A_SECOND_CALL = 32;
/** Where a call costs the store no sync of a disk: two small calls then take no longer than a large one, and overlap. */
const WORTH_A_CHEAP_CALL = 8;

/**
 * Turns concurrent single enqueues into batches. A call goes out at the end of the current microtask round when none is
 * under way; what comes meanwhile waits for its return and goes as one batch. So a lone enqueue pays no delay, and many share
 * one round trip (and one fsync). Where there is no fsync to share, many go as two halves: the store works on one of them while
 * this process answers the callers of the other and takes up their next jobs. Every caller gets the answer of its own item,
 * within its own time limit. Opening the backend is a part of a call, so that what waits for a store that is away is bounded too.
 */
export class Coalescer {
  readonly #backend: Backend;
  readonly #hold: BackendHold;
  readonly #limits: CoalescerLimits;
  readonly #timer = new EarliestTimer(() => this.#expire());
  readonly #calls = new Set<Call>();
  #waiting: Waiting[] = [];
  #pendingItems = 0;
  #pendingBytes = 0;
  #scheduled = false;
  /** The earliest deadline of those that no timer watches yet. */
  #watchAt = Number.POSITIVE_INFINITY;
  /** Two calls hide the round trip of one behind the other's work; more only make smaller batches. */
  static readonly CALLS = 2;

  constructor(backend: Backend, hold: BackendHold, limits: CoalescerLimits) {
    this.#backend = backend;
    this.#hold = hold;
    this.#limits = limits;
  }

  /** Resolves with the outcome of this job soon after `deadlineAt` (`performance.now()`) at the latest; never rejects. */
  add(job: NewJob, deadlineAt: number): Promise<EnqueueOutcome> {
    const bytes = jobBytes(job);
    if (this.#pendingItems >= this.#limits.maxItems || this.#pendingBytes + bytes > this.#limits.maxBytes) {
      const what = `${this.#pendingItems} enqueues wait in this process.`;
      return Promise.resolve(rejected(job, new SuretyError('CLIENT_OVERLOADED', what, { jobId: job.id })));
    }
    this.#pendingItems += 1;
    this.#pendingBytes += bytes;
    return new Promise((resolve) => {
      this.#waiting.push({ job, bytes, deadlineAt, resolve, ended: false });
      this.#watchAt = Math.min(this.#watchAt, deadlineAt);
      this.#schedule();
      if (!this.#scheduled) this.#watch();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#calls.size >= Coalescer.CALLS || this.#waiting.length === 0) return;
    const worth = this.#isCheap() ? WORTH_A_CHEAP_CALL : WORTH_A_SECOND_CALL;
    const enough = Math.min(worth, this.#backend.capabilities.batch.maxItems);
    if (this.#calls.size > 0 && this.#waiting.length < enough) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      void this.#send({ items: this.#take(), sent: false });
      // Behind the sending: to set a timer costs a lone enqueue a tenth of its way to the store.
      this.#watch();
    });
  }

  #watch(): void {
    if (this.#pendingItems > 0) this.#timer.watch(this.#watchAt);
    this.#watchAt = Number.POSITIVE_INFINITY;
  }

  /** No call waits for a disk or for other machines. */
  #isCheap(): boolean {
    const { durability } = this.#backend.capabilities;
    return durability === 'memory' || durability === 'process-crash';
  }

  #take(): Waiting[] {
    const { maxItems, maxBytes } = this.#backend.capabilities.batch;
    const all = this.#waiting.length;
    const inHalves = this.#calls.size === 0 && this.#isCheap() && all >= 2 * WORTH_A_CHEAP_CALL;
    const most = Math.min(maxItems, inHalves ? Math.ceil(all / 2) : all);
    let bytes = 0;
    let count = 0;
    for (const item of this.#waiting) {
      bytes += item.bytes;
      if (count === most || (count > 0 && bytes > maxBytes)) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #send(call: Call): Promise<void> {
    if (call.items.length === 0) return;
    this.#calls.add(call);
    this.#schedule();
    const refusal = this.#hold.isOpen() ? null : await this.#open(call.items);
    if (refusal === null) await this.#dispatch(call);
    else for (const item of call.items) this.#end(item, rejected(item.job, refusal));
    this.#calls.delete(call);
    // A set can keep what it held long after it was taken out; that shall not be the jobs.
    call.items = [];
    this.#schedule();
  }

  async #open(items: readonly Waiting[]): Promise<SuretyError | null> {
    try {
      await this.#hold.ready(Math.max(1, lastDeadline(items) - performance.now()));
      return null;
    } catch (error) {
      return asSuretyError(error);
    }
  }

  /** The call may take as long as its most patient item; the others leave when their own time is over. */
  async #dispatch(call: Call): Promise<void> {
    const now = performance.now();
    for (const item of call.items) if (item.deadlineAt <= now) this.#end(item, notSent(item.job));
    const items = call.items.filter((item) => !item.ended);
    if (items.length === 0) return;
    call.items = items;
    call.sent = true;
    const outcomes = await enqueueGuarded(
      (jobs, options) => this.#backend.enqueue(jobs, options),
      items.map((item) => item.job),
      lastDeadline(items) - now,
    );
    for (const [index, outcome] of outcomes.entries()) {
      const item = items[index];
      if (item !== undefined) this.#end(item, outcome);
    }
  }

  /** Ends whose time is over; the answer is when the next one's will be. What is under way gets the slack of its adapter. */
  #expire(): number {
    const now = performance.now();
    const late = this.#waiting.filter((item) => item.deadlineAt <= now);
    if (late.length > 0) this.#waiting = this.#waiting.filter((item) => item.deadlineAt > now);
    for (const item of late) this.#end(item, notSent(item.job));
    let next = firstDeadline(this.#waiting);
    for (const { items, sent } of this.#calls) {
      for (const item of items) {
        if (item.ended) continue;
        const endAt = item.deadlineAt + SLACK_MS;
        if (endAt > now) next = Math.min(next, endAt);
        else this.#end(item, sent ? unanswered(item.job) : notSent(item.job));
      }
    }
    return next;
  }

  #end(item: Waiting, outcome: EnqueueOutcome): void {
    if (item.ended) return;
    item.ended = true;
    this.#pendingItems -= 1;
    this.#pendingBytes -= item.bytes;
    if (this.#pendingItems === 0) this.#timer.clear();
    item.resolve(outcome);
  }
}

function lastDeadline(items: readonly Waiting[]): number {
  return items.reduce((last, item) => Math.max(last, item.deadlineAt), 0);
}

function firstDeadline(items: readonly Waiting[]): number {
  return items.reduce((first, item) => Math.min(first, item.deadlineAt), Number.POSITIVE_INFINITY);
}

function rejected(job: NewJob, error: SuretyError): EnqueueOutcome {
  return { status: 'rejected', id: job.id, error };
}

function notSent(job: NewJob): EnqueueOutcome {
  const what = 'The enqueue waited until its time was over; it was not sent.';
  return rejected(job, new SuretyError('BACKEND_TIMEOUT', what, { jobId: job.id }));
}

function unanswered(job: NewJob): EnqueueOutcome {
  const what = 'The store did not answer within the time of this enqueue.';
  const error = new SuretyError('OUTCOME_UNKNOWN', what, { jobId: job.id });
  return { status: 'unknown', id: job.id, error };
}
