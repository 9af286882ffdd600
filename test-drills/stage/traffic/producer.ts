import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient, isSuretyError, type JobDefinition } from '@surety/core';
import type { History } from '../history.ts';
import { monotonicMs } from '../monotonic.ts';
import type { Road } from '../place.ts';
import type { Stage } from '../stage.ts';
import { type TrafficInput, trafficJob } from './jobs.ts';

/** How jobs are made. */
export interface ProducerOrder {
  readonly queue: string;
  /** Limit of one enqueue. */
  readonly timeoutMs: number;
  readonly road?: Road;
}

/** A producer that repeats, under the same id, what the store did not take or did not answer. */
export interface Producer extends AsyncDisposable {
  /** Ids and when each was accepted, by `monotonicMs()`. */
  readonly accepted: ReadonlyMap<string, number>;
  /** Ids of all jobs that were made. */
  readonly made: readonly string[];
  /** Answers that it was certainly not stored, and that it may be. */
  readonly refusals: number;
  readonly unknowns: number;
  /** The longest that an enqueue took to be answered, whatever the answer. */
  readonly longestCallMs: number;
  /** Makes one job; resolves when it was accepted. */
  send(workMs: number): Promise<string>;
  /** From now on so many a second. A tick that comes late makes up for it. */
  flow(perSecond: number, workMs: () => number): void;
  /** Makes no more; resolves when all were accepted. */
  finish(): Promise<void>;
}

const LOOK_EVERY_MS = 20;
const REPEAT_AFTER_MS = 250;

/** Its part of the history is written too. */
export async function startProducer(stage: Stage, history: History, order: ProducerOrder): Promise<Producer> {
  const backend = await stage.connect(order.road);
  const client = createClient({ backend, trace: history.trace, timeout: order.timeoutMs });
  return new RepeatingProducer(client, order.queue, stage.signal);
}

class RepeatingProducer implements Producer {
  readonly accepted = new Map<string, number>();
  readonly made: string[] = [];
  refusals = 0;
  unknowns = 0;
  longestCallMs = 0;
  readonly #client: Client;
  readonly #job: JobDefinition<TrafficInput>;
  readonly #signal: AbortSignal;
  readonly #underWay = new Set<Promise<unknown>>();
  #timer: NodeJS.Timeout | null = null;

  constructor(client: Client, queue: string, signal: AbortSignal) {
    this.#client = client;
    this.#job = trafficJob(queue);
    this.#signal = signal;
  }

  send(workMs: number): Promise<string> {
    const id = randomUUID();
    const number = this.made.push(id);
    const sent = this.#repeat(id, { number, workMs });
    this.#underWay.add(sent);
    // Whoever waits for it is told; the list only must not hold it.
    sent.catch(() => undefined).finally(() => this.#underWay.delete(sent));
    return sent;
  }

  flow(perSecond: number, workMs: () => number): void {
    const from = performance.now();
    let paced = 0;
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - from) * perSecond) / 1000);
      for (; paced < due; paced += 1) void this.send(workMs()).catch(() => undefined);
    }, LOOK_EVERY_MS);
  }

  async finish(): Promise<void> {
    this.#pause();
    await Promise.all(this.#underWay);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pause();
    await this.#client.close();
  }

  #pause(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  async #repeat(id: string, input: TrafficInput): Promise<string> {
    for (;;) {
      this.#signal.throwIfAborted();
      const from = performance.now();
      try {
        await this.#client.enqueue(this.#job, input, { id });
        this.accepted.set(id, monotonicMs());
        return id;
      } catch (error) {
        // Input that no repeat can mend, or a client that was closed.
        if (!isSuretyError(error) || error.retryable === 'no') throw error;
        if (error.retryable === 'unknown') this.unknowns += 1;
        else this.refusals += 1;
      } finally {
        this.longestCallMs = Math.max(this.longestCallMs, performance.now() - from);
      }
      await sleep(REPEAT_AFTER_MS);
    }
  }
}
