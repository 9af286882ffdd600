import type { Observer } from '../observers/observer.ts';

/** What every job carries. `n` counts from 0, so that a handler can tell which jobs it has seen. */
export interface Payload {
  readonly n: number;
  readonly filler: string;
}

interface WorkerRequest {
  readonly concurrency: number;
  readonly handler: (payload: Payload) => Promise<void>;
}

interface RunningWorker {
  stop(): Promise<void>;
}

/** Both resolve once the jobs are stored. */
interface Producer {
  enqueue(payload: Payload): Promise<void>;
  /** In one call; `delayMs` is for all of them. */
  enqueueMany(payloads: readonly Payload[], delayMs?: number): Promise<void>;
  stop(): Promise<void>;
}

/** Jobs that `load` shall store, numbered from 0. */
export interface Load {
  readonly count: number;
  /** 0: ready now. */
  readonly delayMs: number;
}

/** A job system in the bench. Where its jobs are is a location: the URL of a database or the path of a file. */
export interface Contestant {
  readonly name: string;
  /** Whose versions belong into the report. */
  readonly packages: readonly string[];
  /** Makes its tables in an empty store. */
  prepare(location: string): Promise<void>;
  startProducer(location: string): Promise<Producer>;
  /** Resolves once the worker runs; it may have begun with the jobs before. */
  startWorker(location: string, request: WorkerRequest): Promise<RunningWorker>;
  /** Very many jobs in the form in which its producer would leave them, by a quicker way. Left out: there is none. */
  load?(location: string, load: Load): Promise<void>;
  /** A look at the store past the contestant's own code. */
  observe(location: string): Promise<Observer>;
}
