import { type Client, createClient } from '@surety/core';
import type { Backend, QueueCounts } from '@surety/core/contract';
import { isSuretyError, SuretyError } from '@surety/core/errors';
import { withinDeadline } from './within-deadline.ts';

/** What one look at the store has shown. A queue that could not be read is not in it. */
export type Reading = ReadonlyMap<string, QueueCounts>;

/** What could not be read, and why. */
export interface ReadFailure {
  readonly operation: 'open' | 'queues' | 'counts';
  readonly error: SuretyError;
}

export interface QueueReaderOptions {
  /** Null: those that the backend lists, and those it has listed before. */
  readonly queues: readonly string[] | null;
  /** How many of those listed before are remembered. */
  readonly remembered: number;
  /** A reading serves whoever asks within this time of its beginning. */
  readonly intervalMs: number;
  /** Of one look at all queues. */
  readonly timeoutMs: number;
  /** Called after each look; an empty list says that all went well. */
  readonly onLook: (failures: readonly ReadFailure[]) => void;
}

interface Look {
  readonly beganAt: number;
  readonly deadlineAt: number;
  readonly reading: Map<string, QueueCounts>;
  readonly failures: ReadFailure[];
}

const NOTHING: Reading = new Map();
/** Calls at the same time: enough to hide a round trip, few enough to leave the connections to those who work. */
const LANES = 4;

/** Looks at all queues at once, for everybody who asks meanwhile. */
export class QueueReader {
  readonly #backend: Backend;
  readonly #options: QueueReaderOptions;
  /** Opens the backend, and shares it with the workers and clients of this process. */
  readonly #client: Client;
  /** A queue that ran empty is listed no more, and still has to be told as empty. */
  readonly #seen = new Set<string>();
  #underWay: Promise<Reading> | null = null;
  #last: Look | null = null;
  #closed = false;

  constructor(backend: Backend, options: QueueReaderOptions) {
    this.#backend = backend;
    this.#options = options;
    this.#client = createClient({ backend, timeout: options.timeoutMs });
  }

  /** Ends within the time limit and never rejects; what could not be read is missing. */
  async read(): Promise<Reading> {
    if (this.#closed) return NOTHING;
    const now = performance.now();
    if (this.#last !== null && now - this.#last.beganAt < this.#options.intervalMs) return this.#last.reading;
    this.#underWay ??= this.#lookAt(now).finally(() => {
      this.#underWay = null;
    });
    return this.#underWay;
  }

  /** Lets go of the backend. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#last = null;
    await this.#client.close();
  }

  async #lookAt(beganAt: number): Promise<Reading> {
    const deadlineAt = beganAt + this.#options.timeoutMs;
    const look: Look = { beganAt, deadlineAt, reading: new Map(), failures: [] };
    const opened = await this.#ask(look, 'open', async () => {
      await this.#client.start();
      return true;
    });
    if (opened === true) await this.#readAll(look);
    // What failed because it was stopped is no failure.
    if (this.#closed) return NOTHING;
    this.#last = look;
    this.#options.onLook(look.failures);
    return look.reading;
  }

  /** One queue that cannot be read hides no other. */
  async #readAll(look: Look): Promise<void> {
    const names = (await this.#names(look)).values();
    const lane = async (): Promise<void> => {
      // The lanes share one iterator: each takes the next name.
      for (const name of names) {
        const counts = await this.#ask(look, 'counts', (timeoutMs) =>
          this.#backend.counts(name, { timeoutMs }),
        );
        if (counts !== null) look.reading.set(name, counts);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  }

  async #names(look: Look): Promise<readonly string[]> {
    if (this.#options.queues !== null) return this.#options.queues;
    const listed = await this.#ask(look, 'queues', (timeoutMs) => this.#backend.queues({ timeoutMs }));
    const names = new Set([...this.#seen, ...(listed ?? [])]);
    for (const name of names) if (this.#seen.size < this.#options.remembered) this.#seen.add(name);
    return [...names];
  }

  async #ask<Answer>(
    look: Look,
    operation: ReadFailure['operation'],
    call: (leftMs: number) => Promise<Answer>,
  ): Promise<Answer | null> {
    if (this.#closed) return null;
    const { name } = this.#backend;
    try {
      return await withinDeadline(call, look.deadlineAt, name, operation);
    } catch (error) {
      look.failures.push({ operation, error: asSuretyError(error, name, operation) });
      return null;
    }
  }
}

function asSuretyError(error: unknown, adapter: string, operation: string): SuretyError {
  if (isSuretyError(error)) return error;
  return new SuretyError('INTERNAL', 'The backend failed to answer.', { adapter, operation, cause: error });
}
