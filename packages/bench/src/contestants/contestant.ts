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

/** A job system in the bench. Where its jobs are is a location: the URL of a database or the path of a file. */
export interface Contestant {
  readonly name: string;
  /** Whose versions belong into the report. */
  readonly packages: readonly string[];
  /** Makes its tables in an empty store. */
  prepare(location: string): Promise<void>;
  /** Resolves once all jobs are stored. */
  fill(location: string, payloads: readonly Payload[]): Promise<void>;
  /** Resolves once the worker runs; it may have begun with the jobs before. */
  startWorker(location: string, request: WorkerRequest): Promise<RunningWorker>;
  /** A look at the store past the contestant's own code. */
  observe(location: string): Promise<Observer>;
}
