import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient, type EnqueueItem, isSuretyError } from '@surety/core';
import type { Backend, Capabilities } from '@surety/core/contract';
import type { Trace } from '@surety/core/trace';
import { seededRandom } from '../stage/random.ts';
import type { ActorTask } from './actor.ts';
import { drawJob, loadJobs } from './jobs.ts';
import type { Part } from './part.ts';

type Item = EnqueueItem<Capabilities>;

const TICK_MS = 250;
/** After an outage what is behind is made up for at this many times the usual pace. */
const HURRY = 3;
const REPEAT_AFTER_MS = 250;
/** Calls under way; the store may be away for as long as each of them lasts. */
const MOST_CALLS = 4;
/** Of those that come later: only they are certainly there when they are asked for again. */
const DOUBTED = 0.05;

/** A producer that repeats, under the same id, what was not taken or not answered, until all is accepted. */
export async function startProducing(task: ActorTask, backend: Backend, trace: Trace): Promise<Part> {
  const client = createClient({ backend, trace, timeout: task.callMs });
  const { idempotentEnqueue } = backend.capabilities;
  const producer = new Producer(task, client, idempotentEnqueue === 'while-present');
  producer.begin();
  return producer;
}

class Producer implements Part {
  accepted = 0;
  readonly attempts = 0;
  complaint: string | null = null;
  readonly #task: ActorTask;
  readonly #client: Client;
  readonly #random: ReturnType<typeof seededRandom>;
  readonly #jobs: ReturnType<typeof loadJobs>;
  readonly #again: Item[] = [];
  readonly #calls = new Set<Promise<void>>();
  /** Some callers ask again for what was accepted; where the id is known, nothing comes of it. */
  readonly #mayDoubt: boolean;
  #made = 0;
  #over = false;
  #making: Promise<void> = Promise.resolve();

  constructor(task: ActorTask, client: Client, mayDoubt: boolean) {
    this.#task = task;
    this.#mayDoubt = mayDoubt;
    this.#client = client;
    this.#random = seededRandom(task.seed);
    this.#jobs = loadJobs(task.queue);
  }

  get isDone(): boolean {
    return this.#over || this.accepted >= this.#task.jobs;
  }

  begin(): void {
    this.#making = this.#make();
    this.#making.catch((error: unknown) => {
      this.complaint = `a producer ended: ${String(error)}`;
    });
  }

  async stop(): Promise<void> {
    this.#over = true;
    await this.#making.catch(() => undefined);
    await Promise.all(this.#calls);
    await this.#client.close();
  }

  async #make(): Promise<void> {
    const { jobs, perSecond } = this.#task;
    const perTick = Math.max(1, Math.ceil((perSecond * TICK_MS * HURRY) / 1000));
    const from = performance.now();
    while (!this.isDone) {
      const due = Math.min(jobs, Math.ceil(((performance.now() - from) * perSecond) / 1000));
      const fresh = Math.min(due - this.#made, perTick);
      if (this.#calls.size < MOST_CALLS) {
        const items = this.#again.splice(0, perTick);
        for (let made = 0; made < fresh; made += 1) items.push(this.#draw());
        this.#made += Math.max(0, fresh);
        if (items.length > 0) this.#send(items);
      }
      await sleep(TICK_MS);
    }
  }

  #draw(): Item {
    const { mix, leaseMs, longestDelayMs } = this.#task;
    const { way, delayMs, input } = drawJob(this.#random, mix, leaseMs, longestDelayMs);
    return {
      job: this.#jobs[way],
      input,
      options: { id: randomUUID(), ...(delayMs > 0 && { delay: delayMs }) },
    };
  }

  #send(items: readonly Item[]): void {
    // Both ways of enqueueing are under load: single calls, which the client brings together, and lists.
    const sent = items.length <= 3 ? Promise.all(items.map((item) => this.#one(item))) : this.#many(items);
    const call = sent.then((open) => this.#repeat(open.flat()));
    this.#calls.add(call);
    void call.finally(() => this.#calls.delete(call));
  }

  async #one(item: Item): Promise<readonly Item[]> {
    try {
      await this.#client.enqueue(item.job, item.input, item.options);
      this.#accept(item);
      return [];
    } catch (error) {
      return this.#unlessHopeless(item, error);
    }
  }

  async #many(items: readonly Item[]): Promise<readonly Item[]> {
    const results = await this.#client.enqueueMany(items);
    return items.flatMap((item, index) => {
      const result = results[index];
      if (result === undefined) return [item];
      if ('error' in result) return this.#unlessHopeless(item, result.error);
      this.#accept(item);
      return [];
    });
  }

  #accept(item: Item): void {
    this.accepted += 1;
    const isDelayed = item.options?.delay !== undefined;
    if (!this.#mayDoubt || !isDelayed || this.#random.next() > DOUBTED) return;
    const call = this.#client.enqueue(item.job, item.input, item.options).then(
      () => undefined,
      // It was accepted before, whatever becomes of this.
      () => undefined,
    );
    this.#calls.add(call);
    void call.finally(() => this.#calls.delete(call));
  }

  #unlessHopeless(item: Item, error: unknown): readonly Item[] {
    if (isSuretyError(error) && error.retryable !== 'no') return [item];
    this.complaint = `a job was refused for good: ${String(error)}`;
    return [];
  }

  async #repeat(open: readonly Item[]): Promise<void> {
    if (open.length === 0) return;
    await sleep(REPEAT_AFTER_MS);
    this.#again.push(...open);
  }
}
