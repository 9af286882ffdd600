export * from './contract/index.ts';
export { defineJob, type JobDefinition, type JobOptions } from './definition/define-job.ts';
export { type Handler, handle, handleFenced } from './definition/handle.ts';
export * from './errors/index.ts';
export type { AttemptEvent, AttemptOutcome, WorkerEvents, WorkerState } from './events/worker-events.ts';
export { GUARANTEES, type Guarantee, PROMISES } from './guarantees/guarantees.ts';
export { TRANSITIONS } from './guarantees/transitions.ts';
export type { LogChoice } from './logging/attempt-log.ts';
export type { Duration } from './options/duration.ts';
export { type Client, createClient, type EnqueueItem } from './producer/client.ts';
export type { ClientOptions } from './producer/client-options.ts';
export type {
  AnyEnqueueOptions,
  CapableEnqueueOptions,
  CommonEnqueueOptions,
  EnqueueOptions,
} from './producer/enqueue-options.ts';
export type { EnqueueManyResult, EnqueueResult } from './producer/enqueue-result.ts';
export { backoffMs, type RetryPolicy } from './retry/backoff.ts';
export type { Requirements } from './startup/negotiate.ts';
export type { TraceChoice } from './trace/trace-choice.ts';
export { type AgeAlert, AgeWatch } from './worker/age-watch.ts';
export type { FencedContext, JobContext } from './worker/context.ts';
export { AbortReason, type HandlerOutcome, PermanentError } from './worker/outcome.ts';
export { createWorker, type StopReport, type Worker, type WorkerHealth } from './worker/worker.ts';
export type { WorkerOptions } from './worker/worker-options.ts';
