export {
  ATTRIBUTES,
  type AttributeFacts,
  type AttributeName,
  type CounterName,
  type GaugeName,
  type HistogramName,
  METRICS,
  type MetricFacts,
  type MetricName,
  type MetricTable,
} from './metric-table.ts';
export type { Observation } from './observation.ts';
export { observeQueues } from './observe-queues.ts';
export { observeWorker } from './observe-worker.ts';
export type { LabelLimits, QueueObservationOptions, WorkerObservationOptions } from './options.ts';
