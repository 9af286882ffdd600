import {
  type Backend,
  type Capabilities,
  DEFAULT_MAX_PAYLOAD_BYTES,
  type EnqueueOutcome,
  type NewJob,
} from '../contract/index.ts';
import { checkInput } from '../definition/check-input.ts';
import { assertQueueName, type JobDefinition } from '../definition/define-job.ts';
import { SuretyError } from '../errors/index.ts';
import { type Duration, durationMs } from '../options/duration.ts';
import { assertKnownOptions, wholeNumber } from '../options/known-options.ts';
import { type BackendHold, holdBackend } from '../startup/backend-session.ts';
import { negotiate, type Requirements } from '../startup/negotiate.ts';
import { batchesOf } from './batches.ts';
import { Coalescer, enqueueGuarded } from './coalescer.ts';
import type { AnyEnqueueOptions, EnqueueOptions } from './enqueue-options.ts';
import {
  asSuretyError,
  type EnqueueManyResult,
  type EnqueueResult,
  manyResultOf,
  resultOf,
} from './enqueue-result.ts';
import { newJob } from './new-job.ts';

/** Options of {@link createClient}. */
export interface ClientOptions<C extends Capabilities> {
  readonly backend: Backend<C>;
  /** What the backend must offer; checked at once. */
  readonly requires?: Requirements;
  /** Of one job with its envelope; 200 KiB when left out. */
  readonly maxPayloadBytes?: number;
  /** Per queue: refuse to enqueue when this many jobs are ready or scheduled. */
  readonly maxDepth?: Readonly<Record<string, number>>;
  /** Time limit of an enqueue; 10 s when left out. */
  readonly timeout?: Duration;
  /** Enqueues that may wait in this process; 10,000 when left out. */
  readonly maxPending?: number;
}

/** One item of {@link Client.enqueueMany}. */
export interface EnqueueItem<C extends Capabilities> {
  readonly job: JobDefinition<unknown, unknown>;
  readonly input: unknown;
  readonly options?: EnqueueOptions<C>;
}

/** Puts jobs into a backend. */
export interface Client<C extends Capabilities = Capabilities> extends AsyncDisposable {
  /**
   * Resolves once the job is stored as durably as the backend states (G1). Throws a SuretyError: bad input before
   * anything is sent; OUTCOME_UNKNOWN, with the id, when the answer was lost.
   */
  enqueue<Input>(
    job: JobDefinition<Input, unknown>,
    input: NoInfer<Input>,
    options?: EnqueueOptions<C>,
  ): Promise<EnqueueResult>;
  /** Stores what can be stored; the answer says which items failed and why. Never throws for an item. */
  enqueueMany(items: readonly EnqueueItem<C>[]): Promise<readonly EnqueueManyResult[]>;
  /** Connects now instead of with the first enqueue, to fail early. */
  start(): Promise<void>;
  /** Waits for enqueues under way (bounded by their own limits) and lets go of the backend. */
  close(): Promise<void>;
}

const CLIENT_OPTIONS = ['backend', 'requires', 'maxPayloadBytes', 'maxDepth', 'timeout', 'maxPending'];
/** Text held for enqueues that wait; beside `maxPending` it bounds memory while the store is away. */
const MAX_PENDING_BYTES = 64 * 1024 * 1024;

/** Makes a client. Throws OPTIONS_INVALID, CAPABILITY_MISSING, LIMIT_EXCEEDED. Connects with the first enqueue. */
export function createClient<C extends Capabilities>(options: ClientOptions<C>): Client<C> {
  assertKnownOptions('createClient', options, CLIENT_OPTIONS);
  negotiate(options.backend, options.requires ?? {});
  return new BackendClient<C>(options);
}

class BackendClient<C extends Capabilities> implements Client<C> {
  readonly #backend: Backend;
  readonly #hold: BackendHold;
  readonly #coalescer: Coalescer;
  readonly #timeoutMs: number;
  readonly #facts: {
    capabilities: Capabilities;
    maxPayloadBytes: number;
    maxDepth: Readonly<Record<string, number>>;
  };
  readonly #definitions = new Map<string, unknown>();
  #closed = false;

  constructor(options: ClientOptions<C>) {
    this.#backend = options.backend;
    this.#timeoutMs = durationMs('timeout', options.timeout ?? 10_000, 1, 3_600_000);
    this.#facts = {
      capabilities: options.backend.capabilities,
      maxPayloadBytes: maxPayloadBytes(options.maxPayloadBytes, options.backend),
      maxDepth: checkedDepths(options.maxDepth ?? {}, options.backend),
    };
    const maxItems = wholeNumber('maxPending', options.maxPending ?? 10_000, 1, 10_000_000);
    this.#coalescer = new Coalescer(options.backend, { maxItems, maxBytes: MAX_PENDING_BYTES });
    this.#hold = holdBackend(options.backend, () => undefined);
  }

  async start(): Promise<void> {
    this.#assertOpen();
    await this.#hold.ready(this.#timeoutMs);
  }

  async enqueue<Input>(
    definition: JobDefinition<Input, unknown>,
    input: NoInfer<Input>,
    options?: EnqueueOptions<C>,
  ): Promise<EnqueueResult> {
    this.#assertOpen();
    const given = options as AnyEnqueueOptions | undefined;
    const timeoutMs =
      given?.timeout === undefined ? this.#timeoutMs : durationMs('timeout', given.timeout, 1, 3_600_000);
    const startedAt = performance.now();
    const job = await this.#check(definition, input, given);
    if (!this.#hold.isOpen()) await this.#hold.ready(timeoutMs);
    const leftMs = Math.max(1, timeoutMs - (performance.now() - startedAt));
    if (given?.tx !== undefined) return resultOf(await this.#enqueueIn(given.tx, job, leftMs));
    return resultOf(await this.#coalescer.add(job, leftMs));
  }

  async enqueueMany(items: readonly EnqueueItem<C>[]): Promise<readonly EnqueueManyResult[]> {
    this.#assertOpen();
    const results = Array.from<unknown, EnqueueManyResult | undefined>(items, () => undefined);
    const jobs: { readonly index: number; readonly job: NewJob }[] = [];
    for (const [index, item] of items.entries()) {
      try {
        jobs.push({
          index,
          job: await this.#check(item.job, item.input, item.options as AnyEnqueueOptions | undefined),
        });
      } catch (error) {
        results[index] = { status: 'rejected', id: null, error: asSuretyError(error) };
      }
    }
    for (const batch of batchesOf(jobs, this.#facts.capabilities)) {
      const outcomes = await this.#send(batch.map(({ job }) => job));
      for (const [at, { index }] of batch.entries()) results[index] = manyResultOf(outcomes[at]);
    }
    return results.map((result) => result ?? manyResultOf(undefined));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#coalescer.drained();
    await this.#hold.release(5000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #send(jobs: readonly NewJob[]): Promise<readonly EnqueueOutcome[]> {
    try {
      if (!this.#hold.isOpen()) await this.#hold.ready(this.#timeoutMs);
    } catch (error) {
      return jobs.map(({ id }) => ({ status: 'rejected', id, error: asSuretyError(error) }));
    }
    return enqueueGuarded(this.#backend, jobs, this.#timeoutMs);
  }

  async #enqueueIn(tx: unknown, job: NewJob, timeoutMs: number): Promise<EnqueueOutcome> {
    const facet = this.#backend.transactional;
    if (facet === undefined)
      throw new SuretyError('CAPABILITY_MISSING', `${this.#backend.name} cannot enqueue in a transaction.`);
    const [outcome] = await facet.enqueue(tx, [job], { timeoutMs });
    if (outcome === undefined)
      throw new SuretyError('ADAPTER_BROKE_CONTRACT', 'The adapter gave no outcome.', { jobId: job.id });
    return outcome;
  }

  async #check(
    definition: JobDefinition<unknown, unknown>,
    input: unknown,
    options: AnyEnqueueOptions | undefined,
  ): Promise<NewJob> {
    const known = this.#definitions.get(definition.type);
    if (known === undefined) this.#definitions.set(definition.type, definition);
    else if (known !== definition) throw definedTwice(definition.type);
    if (definition.input !== null) {
      const checked = checkInput(definition.type, definition.input, input);
      if (checked instanceof Promise) await checked;
    }
    return newJob(definition, input, options, this.#facts);
  }

  #assertOpen(): void {
    if (this.#closed) throw new SuretyError('BACKEND_CLOSED', 'The client was closed.');
  }
}

function definedTwice(type: string): SuretyError {
  return new SuretyError('JOB_DEFINED_TWICE', `The job type ${type} has two definitions in this client.`);
}

function maxPayloadBytes(given: number | undefined, backend: Backend): number {
  const limit = wholeNumber('maxPayloadBytes', given ?? DEFAULT_MAX_PAYLOAD_BYTES, 1024, 1024 ** 3);
  if (limit <= backend.capabilities.payload.maxBytes) return limit;
  throw new SuretyError(
    'LIMIT_EXCEEDED',
    `maxPayloadBytes is ${limit}; ${backend.name} takes ${backend.capabilities.payload.maxBytes}.`,
  );
}

function checkedDepths(
  depths: Readonly<Record<string, number>>,
  backend: Backend,
): Readonly<Record<string, number>> {
  const queues = Object.keys(depths);
  if (queues.length > 0 && backend.capabilities.maxDepth === 'none') {
    throw new SuretyError('CAPABILITY_MISSING', `${backend.name} cannot bound the depth of a queue.`, {
      adapter: backend.name,
    });
  }
  for (const queue of queues) {
    assertQueueName(queue);
    wholeNumber(`maxDepth.${queue}`, depths[queue], 1, Number.MAX_SAFE_INTEGER);
  }
  return { ...depths };
}
