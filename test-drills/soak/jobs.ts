import { defineJob, type JobDefinition } from '@surety/core';
import type { Random } from '../stage/random.ts';

/** How a job of the load behaves. */
export const WAYS = [
  'plain',
  'later',
  'fails',
  'slow',
  'late',
  'snoozes',
  'stuck',
  'poison',
  'bury',
  'large',
  'crash',
] as const;
/** See {@link WAYS}. */
export type Way = (typeof WAYS)[number];

/** How often each way is drawn, relative to each other. */
export type Mix = Readonly<Record<Way, number>>;

/** Input of every job of the load. */
export interface LoadInput {
  /** How long it works. */
  readonly workMs: number;
  /** How often it fails before it succeeds. */
  readonly failures: number;
  readonly filling: string;
}

/** One job as it is drawn. */
export interface DrawnJob {
  readonly way: Way;
  readonly delayMs: number;
  readonly input: LoadInput;
}

/** Starts of a job that can succeed. Every fault may charge one of them; nothing shall die of faults alone. */
const MOST_ATTEMPTS = 40;
/** Starts of a job that never succeeds. */
const POISON_ATTEMPTS = 3;
/** Of one that ends its process every time. */
const CRASH_ATTEMPTS = 2;
const ATTEMPTS: Readonly<Partial<Record<Way, number>>> = { poison: POISON_ATTEMPTS, crash: CRASH_ATTEMPTS };
/** Of a handler that is stuck once. */
const STUCK_MS = 400;
/** Well within the limit of every backend, and many times what others carry. */
const LARGE_BYTES = 20_000;

/** As a service has it, with more trouble than any service should have. */
export const LONG_MIX: Mix = {
  plain: 660,
  later: 160,
  fails: 80,
  slow: 20,
  late: 10,
  snoozes: 10,
  stuck: 25,
  poison: 8,
  bury: 4,
  large: 20,
  crash: 0.2,
};

/** The definitions of one queue, by way. */
export function loadJobs(queue: string): Readonly<Record<Way, JobDefinition<LoadInput>>> {
  const define = (way: Way): JobDefinition<LoadInput> =>
    defineJob(`soak.${way}`, {
      queue,
      retry: { maxAttempts: ATTEMPTS[way] ?? MOST_ATTEMPTS, base: 100, cap: 1000 },
      ...(way === 'stuck' && { timeout: STUCK_MS }),
    });
  return Object.fromEntries(WAYS.map((way) => [way, define(way)])) as Record<Way, JobDefinition<LoadInput>>;
}

/** Draws the next job. `longestDelayMs` bounds the delay of those that come later. */
export function drawJob(random: Random, mix: Mix, leaseMs: number, longestDelayMs: number): DrawnJob {
  const way = drawWay(random, mix);
  return {
    way,
    delayMs: way === 'later' ? random.int(200, longestDelayMs) : 0,
    input: {
      workMs: workMs(way, random, leaseMs),
      failures: way === 'fails' ? random.int(1, 3) : 0,
      filling: way === 'large' ? 'x'.repeat(LARGE_BYTES) : '',
    },
  };
}

function workMs(way: Way, random: Random, leaseMs: number): number {
  // Outlives its lease, so that it is renewed.
  if (way === 'slow') return Math.round(leaseMs * 1.2);
  return way === 'late'
    ? random.int(Math.round(leaseMs * 0.3), Math.round(leaseMs * 0.6))
    : random.int(0, 20);
}

function drawWay(random: Random, mix: Mix): Way {
  const total = WAYS.reduce((sum, way) => sum + mix[way], 0);
  let left = random.next() * total;
  for (const way of WAYS) {
    left -= mix[way];
    if (left < 0) return way;
  }
  return 'plain';
}
