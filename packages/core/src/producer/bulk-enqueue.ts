import type { Backend, EnqueueOutcome, NewJob } from '../contract/index.ts';
import { SuretyError } from '../errors/index.ts';
import type { BackendHold } from '../startup/backend-session.ts';
import { asSuretyError } from './enqueue-result.ts';
import { type EnqueueCall, enqueueGuarded } from './guarded-enqueue.ts';
import { jobBytes } from './job-size.ts';

/** A checked item of `enqueueMany`; `tx` undefined: outside of a transaction. */
export interface BulkItem {
  readonly index: number;
  readonly job: NewJob;
  readonly tx: unknown;
  readonly timeoutMs: number;
}

/** What goes to one transaction, or outside of any. */
interface Group {
  part: BulkItem[];
  bytes: number;
  /** The call under way; the next one waits for it, so that the order is kept. */
  sent: Promise<void>;
  isAway: boolean;
}

/**
 * Sends a list in as few calls as the backend takes, while the rest of it is still being checked. The calls of a group go one after
 * the other, so that the order is kept; what is bound to a transaction goes to that one. Each call is bounded by the shortest time
 * limit of its items. After a call that failed as a whole because the store is away, the rest is not sent: a long list must not
 * wait once per call. `answer` is called once per item.
 */
export class BulkEnqueue {
  readonly #backend: Backend;
  readonly #hold: BackendHold;
  readonly #answer: (item: BulkItem, outcome: EnqueueOutcome) => void;
  readonly #groups = new Map<unknown, Group>();

  constructor(
    backend: Backend,
    hold: BackendHold,
    answer: (item: BulkItem, outcome: EnqueueOutcome) => void,
  ) {
    this.#backend = backend;
    this.#hold = hold;
    this.#answer = answer;
  }

  /** A promise where the item filled a part: it resolves once the next may be made, at most one part ahead. Never rejects. */
  add(item: BulkItem): Promise<void> | null {
    const { maxItems, maxBytes } = this.#backend.capabilities.batch;
    const group = this.#groupOf(item.tx);
    const bytes = jobBytes(item.job);
    // A job that is larger than a whole batch goes alone.
    const full = group.part.length === maxItems || (group.part.length > 0 && group.bytes + bytes > maxBytes);
    const sent = full ? this.#sendAhead(group) : null;
    group.part.push(item);
    group.bytes += bytes;
    return sent;
  }

  /** Sends what is left and waits for all answers. Never rejects. */
  async finish(): Promise<void> {
    for (const group of this.#groups.values()) {
      await this.#sendPart(group);
      await group.sent;
    }
  }

  #groupOf(tx: unknown): Group {
    let group = this.#groups.get(tx);
    if (group === undefined) {
      group = { part: [], bytes: 0, sent: Promise.resolve(), isAway: false };
      this.#groups.set(tx, group);
    }
    return group;
  }

  async #sendAhead(group: Group): Promise<void> {
    await this.#sendPart(group);
    // What was just sent leaves the process now, and not after the next part has been made.
    if (!group.isAway) await new Promise((resolve) => setImmediate(resolve));
  }

  async #sendPart(group: Group): Promise<void> {
    const { part } = group;
    group.part = [];
    group.bytes = 0;
    await group.sent;
    if (part.length > 0) group.sent = this.#send(group, part);
  }

  async #send(group: Group, part: readonly BulkItem[]): Promise<void> {
    const outcomes = group.isAway ? part.map(notSent) : await this.#call(part);
    group.isAway ||= outcomes.every(saysAway);
    for (const [at, outcome] of outcomes.entries()) {
      const item = part[at];
      if (item !== undefined) this.#answer(item, outcome);
    }
  }

  async #call(part: readonly BulkItem[]): Promise<readonly EnqueueOutcome[]> {
    const startedAt = performance.now();
    const timeoutMs = part.reduce((least, item) => Math.min(least, item.timeoutMs), Number.POSITIVE_INFINITY);
    const jobs = part.map(({ job }) => job);
    let call: EnqueueCall;
    try {
      call = callFor(this.#backend, part[0]?.tx);
      if (!this.#hold.isOpen()) await this.#hold.ready(timeoutMs);
    } catch (error) {
      return jobs.map(({ id }) => ({ status: 'rejected', id, error: asSuretyError(error) }));
    }
    return enqueueGuarded(call, jobs, Math.max(1, timeoutMs - (performance.now() - startedAt)));
  }
}

/** The call that stores, inside of `tx` where there is one. Throws ADAPTER_BROKE_CONTRACT where the facet is missing. */
export function callFor(backend: Backend, tx: unknown): EnqueueCall {
  if (tx === undefined) return (jobs, options) => backend.enqueue(jobs, options);
  const facet = backend.transactional;
  if (facet === undefined) {
    throw new SuretyError(
      'ADAPTER_BROKE_CONTRACT',
      `${backend.name} states transactional and has no such facet.`,
    );
  }
  return (jobs, options) => facet.enqueue(tx, jobs, options);
}

const AWAY: ReadonlySet<string> = new Set(['BACKEND_UNAVAILABLE', 'BACKEND_TIMEOUT', 'BACKEND_CLOSED']);

function saysAway(outcome: EnqueueOutcome): boolean {
  return outcome.status === 'unknown' || (outcome.status === 'rejected' && AWAY.has(outcome.error.code));
}

function notSent({ job }: BulkItem): EnqueueOutcome {
  const what = 'Not sent, because the store did not answer for the part of the list before.';
  return {
    status: 'rejected',
    id: job.id,
    error: new SuretyError('BACKEND_UNAVAILABLE', what, { jobId: job.id }),
  };
}
