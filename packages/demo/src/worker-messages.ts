import type { DemoStore } from './stores.ts';

/** Handlers of a worker at the same time: enough to hold several jobs when the end comes, few enough to watch. */
export const CONCURRENCY = 5;

/** What a worker process is told at its start. */
export interface WorkerTask {
  readonly name: string;
  readonly store: DemoStore;
  readonly queue: string;
  readonly dependencyUrl: string;
  readonly effectsFile: string;
}

/** From the parent. Jobs never travel here: a worker gets them from the backend alone. */
export type ToWorker = { readonly kind: 'start'; readonly task: WorkerTask } | { readonly kind: 'stop' };

/** From the worker. */
export type FromWorker =
  | { readonly kind: 'started' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly reason: string };
