import type { Backend, Capabilities, NewJob, Notice } from '../contract/index.ts';
import { checkInput } from '../definition/check-input.ts';
import { assertDefinition, type JobDefinition } from '../definition/define-job.ts';
import { isSuretyError, SuretyError } from '../errors/index.ts';
import { messageOf } from '../errors/message-of.ts';
import { assertKnownOptions } from '../options/known-options.ts';
import { type BackendHold, holdBackend } from '../startup/backend-session.ts';
import { inTime, LATE } from '../startup/in-time.ts';
import { type TraceUse, useTrace } from '../trace/trace-choice.ts';
import { recordNotice, traced } from '../trace/traced-backend.ts';
import { BulkEnqueue, type BulkItem, callFor } from './bulk-enqueue.ts';
import {
  type ClientOptions,
  type ClientSettings,
  clientSettings,
  enqueueTimeoutMs,
} from './client-options.ts';
import { Coalescer } from './coalescer.ts';
import type { AnyEnqueueOptions, EnqueueOptions } from './enqueue-options.ts';
import {
  asSuretyError,
  type EnqueueManyResult,
  type EnqueueResult,
  manyResultOf,
  resultOf,
} from './enqueue-result.ts';
import { answersOf } from './guarded-enqueue.ts';
import { newJob } from './new-job.ts';

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
   * anything is sent; OUTCOME_UNKNOWN, with the id, when the answer was lost. With `tx` also what the adapter says of a transaction
   * that is broken.
   */
  enqueue<Input>(
    job: JobDefinition<Input, unknown>,
    input: NoInfer<Input>,
    options?: EnqueueOptions<C>,
  ): Promise<EnqueueResult>;
  /**
   * Stores what can be stored; the answer says, in order, which items failed and why. Never throws for an item. Sent in parts, as the
   * backend takes them; the time limit is that of each part, and after a part for which the store was away the rest is not sent.
   */
  enqueueMany(items: readonly EnqueueItem<C>[]): Promise<readonly EnqueueManyResult[]>;
  /** Connects now instead of with the first enqueue, to fail early. */
  start(): Promise<void>;
  /** Waits for enqueues under way (bounded by their own limits) and lets go of the backend. */
  close(): Promise<void>;
}

/** Text held for enqueues that wait; beside `maxPending` it bounds memory while the store is away. */
const MAX_PENDING_BYTES = 64 * 1024 * 1024;
const CLOSE_GRACE_MS = 5000;
const ITEM_OPTIONS = ['job', 'input', 'options'];

/**
 * Makes a client. Throws OPTIONS_INVALID, CAPABILITY_MISSING, LIMIT_EXCEEDED, CONTRACT_VERSION_UNSUPPORTED. Connects with the first
 * enqueue.
 */
export function createClient<C extends Capabilities>(options: ClientOptions<C>): Client<C> {
  return new BackendClient<C>(clientSettings(options));
}

class BackendClient<C extends Capabilities> implements Client<C> {
  readonly #backend: Backend;
  readonly #settings: ClientSettings;
  readonly #hold: BackendHold;
  readonly #coalescer: Coalescer;
  readonly #trace: TraceUse | null;
  readonly #definitions = new Map<string, unknown>();
  #underWay = 0;
  #ended: () => void = () => undefined;
  #closing: Promise<void> | null = null;

  constructor(settings: ClientSettings) {
    this.#settings = settings;
    this.#trace = useTrace(settings.trace);
    // What opens and closes it is the backend itself, which others may share.
    this.#backend = this.#trace === null ? settings.backend : traced(settings.backend, this.#trace.trace);
    const trace = this.#trace?.trace ?? null;
    // A backend that works by itself in a producer, too, may tell of what explains another's findings.
    const heard = (notice: Notice): void => (trace === null ? undefined : recordNotice(trace, notice));
    this.#hold = holdBackend(settings.backend, heard, settings.requires);
    this.#coalescer = new Coalescer(this.#backend, this.#hold, {
      maxItems: settings.maxPending,
      maxBytes: MAX_PENDING_BYTES,
    });
  }

  async start(): Promise<void> {
    this.#begin();
    try {
      await this.#hold.ready(this.#settings.timeoutMs);
    } finally {
      this.#end();
    }
  }

  async enqueue<Input>(
    definition: JobDefinition<Input, unknown>,
    input: NoInfer<Input>,
    options?: EnqueueOptions<C>,
  ): Promise<EnqueueResult> {
    this.#begin();
    try {
      const startedAt = performance.now();
      const given = options as AnyEnqueueOptions | undefined;
      const deadlineAt = startedAt + this.#timeoutOf(given);
      const checked = this.#check(definition, input, given, deadlineAt);
      const job = checked instanceof Promise ? await checked : checked;
      if (given?.tx !== undefined) return await this.#enqueueIn(given.tx, job, deadlineAt);
      return resultOf(await this.#coalescer.add(job, deadlineAt));
    } finally {
      this.#end();
    }
  }

  async enqueueMany(items: readonly EnqueueItem<C>[]): Promise<readonly EnqueueManyResult[]> {
    this.#begin();
    try {
      if (!Array.isArray(items)) throw new SuretyError('OPTIONS_INVALID', 'enqueueMany takes an array.');
      const results: EnqueueManyResult[] = [];
      const bulk = new BulkEnqueue(this.#backend, this.#hold, ({ index }, outcome) => {
        results[index] = manyResultOf(outcome);
      });
      for (const [index, item] of items.entries()) {
        try {
          const checked = this.#checkItem(index, item);
          // Awaited only where there is something to wait for: a turn per item costs as much as the check.
          const sent = bulk.add(checked instanceof Promise ? await checked : checked);
          if (sent !== null) await sent;
        } catch (error) {
          results[index] = { status: 'rejected', id: null, error: asSuretyError(error) };
        }
      }
      await bulk.finish();
      return results;
    } finally {
      this.#end();
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    if (this.#underWay > 0) {
      await new Promise<void>((resolve) => {
        this.#ended = resolve;
      });
    }
    await this.#hold.release(CLOSE_GRACE_MS);
    this.#trace?.end();
  }

  #begin(): void {
    if (this.#closing !== null) throw new SuretyError('BACKEND_CLOSED', 'The client was closed.');
    this.#underWay += 1;
  }

  #end(): void {
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#ended();
  }

  #timeoutOf(options: AnyEnqueueOptions | undefined): number {
    return options?.timeout === undefined ? this.#settings.timeoutMs : enqueueTimeoutMs(options.timeout);
  }

  async #enqueueIn(tx: unknown, job: NewJob, deadlineAt: number): Promise<EnqueueResult> {
    if (!this.#hold.isOpen()) await this.#hold.ready(leftUntil(deadlineAt));
    const [outcome] = await answersOf(callFor(this.#backend, tx), [job], leftUntil(deadlineAt));
    if (outcome === undefined)
      throw new SuretyError('INTERNAL', 'One job has no outcome.', { jobId: job.id });
    return resultOf(outcome);
  }

  #checkItem(index: number, item: EnqueueItem<C>): BulkItem | Promise<BulkItem> {
    assertKnownOptions('An item of enqueueMany', item, ITEM_OPTIONS);
    const options = item.options as AnyEnqueueOptions | undefined;
    const timeoutMs = this.#timeoutOf(options);
    const job = this.#check(item.job, item.input, options, performance.now() + timeoutMs);
    const made = (checked: NewJob): BulkItem => ({ index, job: checked, tx: options?.tx, timeoutMs });
    return job instanceof Promise ? job.then(made) : made(job);
  }

  /** At once, unless there is a schema. */
  #check(
    definition: JobDefinition<unknown, unknown>,
    input: unknown,
    options: AnyEnqueueOptions | undefined,
    deadlineAt: number,
  ): NewJob | Promise<NewJob> {
    this.#assertDefined(definition);
    const make = (): NewJob => newJob(definition, input, options, this.#settings);
    return definition.input === null ? make() : checkInTime(definition, input, deadlineAt).then(make);
  }

  /** Each definition is looked at once. */
  #assertDefined(definition: JobDefinition<unknown, unknown>): void {
    const known = this.#definitions.get(definition?.type);
    if (known === definition && known !== undefined) return;
    assertDefinition('enqueue', definition);
    const { type } = definition;
    if (known !== undefined) {
      throw new SuretyError('JOB_DEFINED_TWICE', `The job type ${type} has two definitions in this client.`);
    }
    this.#definitions.set(type, definition);
  }
}

/** A schema may be asynchronous, and it is not ours: whatever it throws is an error with a code, and it cannot hold an enqueue. */
async function checkInTime(
  { type, input: schema }: JobDefinition<unknown, unknown>,
  value: unknown,
  deadlineAt: number,
): Promise<void> {
  if (schema === null) return;
  try {
    const checked = checkInput(type, schema, value);
    if (!(checked instanceof Promise)) return;
    if ((await inTime(checked, leftUntil(deadlineAt))) !== LATE) return;
  } catch (error) {
    if (isSuretyError(error)) throw error;
    const what = `The schema of ${type} threw: ${messageOf(error)}.`;
    throw new SuretyError('PAYLOAD_INVALID', what, { cause: error });
  }
  throw new SuretyError('PAYLOAD_INVALID', `The schema of ${type} did not answer within the time limit.`, {
    remedy: 'Look at what the schema waits for, or raise the timeout.',
  });
}

function leftUntil(deadlineAt: number): number {
  return Math.max(1, deadlineAt - performance.now());
}
