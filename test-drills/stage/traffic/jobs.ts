import { defineJob, type JobDefinition } from '@surety/core';

/** What the workers are told. */
export interface TrafficArgs {
  readonly queue: string;
  /** File of the effects. */
  readonly effects: string;
}

/** One job of the traffic: it works so long, and then has its effect. */
export interface TrafficInput {
  readonly number: number;
  readonly workMs: number;
}

/** Retries come soon, so that no wait hides a fault. More attempts than a drill has faults, each of which may charge one. */
export function trafficJob(queue: string): JobDefinition<TrafficInput> {
  return defineJob('drill.traffic', { queue, retry: { maxAttempts: 12, base: 100, cap: 1000 } });
}
