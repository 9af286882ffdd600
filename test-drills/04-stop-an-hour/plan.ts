import type { Capabilities } from '@surety/core/contract';

/** The settings of the drill, and what follows from them. Durations in ms, rates per second. */
export interface Plan {
  readonly stopMs: number;
  /** How much shorter than an hour the stop is; rates stay as they are, so that every duration shrinks alike. */
  readonly compression: number;
  readonly arrivalRate: number;
  /** The rate that the worker is set to. */
  readonly rate: number;
  readonly concurrency: number;
  /** What the downstream takes for a call. */
  readonly handlerMs: number;
  /** What the worker gets done a second: its rate, or what its slots allow. */
  readonly serviceRate: number;
  readonly alertAgeMs: number;
  /** So many outstanding jobs are what the arrivals of this time make, not a backlog. */
  readonly drainedBelow: number;
  /** A burst that is deep and young: worked off before its oldest job is as old as the alert's limit. */
  readonly burst: number;
}

const HOUR_MS = 3_600_000;

/** How much shorter than an hour, and how many jobs arrive a second. */
interface Settings {
  readonly compression: number;
  readonly arrivalRate: number;
}

/** On a message broker a worker takes longer to start: where it gains more on the arrivals, the drain is less off by it. */
const SETTINGS: Readonly<
  Record<Capabilities['moves'], { readonly full: Settings; readonly quick: Settings }>
> = {
  atomic: {
    full: { compression: 120, arrivalRate: 8 },
    quick: { compression: 120, arrivalRate: 4 },
  },
  copy: {
    full: { compression: 60, arrivalRate: 4 },
    quick: { compression: 90, arrivalRate: 4 },
  },
};
/** The rate decides the service, as where it protects a downstream: the slots would do three times as much, so that what a claim takes costs none of it. */
const RATE = 20;
const CONCURRENCY = 60;
const HANDLER_MS = 1000;
/** A quarter of the hour. */
const ALERT_PART = 4;
/** Of the alert's age, for the burst: far below it on a busy machine too. */
const BURST_PART = 0.35;
/** What a job takes in good times, handler and all. */
const DRAINED_S = 1.5;

/** What decides the settings. */
interface PlanFor {
  readonly quick: boolean;
  readonly realTime: boolean;
  readonly moves: Capabilities['moves'];
}

/** Real time, or compressed. */
export function planOf({ quick, realTime, moves }: PlanFor): Plan {
  const { arrivalRate, ...settings } = SETTINGS[moves][quick && !realTime ? 'quick' : 'full'];
  const compression = realTime ? 1 : settings.compression;
  const stopMs = HOUR_MS / compression;
  const serviceRate = Math.min(RATE, (CONCURRENCY * 1000) / HANDLER_MS);
  const alertAgeMs = stopMs / ALERT_PART;
  return {
    stopMs,
    compression,
    arrivalRate,
    rate: RATE,
    concurrency: CONCURRENCY,
    handlerMs: HANDLER_MS,
    serviceRate,
    alertAgeMs,
    drainedBelow: Math.ceil(arrivalRate * DRAINED_S),
    burst: Math.floor((serviceRate * alertAgeMs * BURST_PART) / 1000),
  };
}

/** How long the worker will need for what waits, while more arrives; `startMs`: what a worker takes to start, meanwhile more arrives too. */
export function drainMs(plan: Plan, backlog: number, startMs: number): number {
  const { serviceRate, arrivalRate, drainedBelow, handlerMs } = plan;
  // The first job is done when the first handler is: until then the slots fill, and nothing gets less.
  const filling = (serviceRate * handlerMs) / 1000;
  const waiting = backlog + (arrivalRate * startMs) / 1000 + filling;
  return (Math.max(0, waiting - drainedBelow) * 1000) / (serviceRate - arrivalRate);
}

/** The arithmetic, in words. */
export function arithmetic(plan: Plan, backlog: number, startMs: number): readonly string[] {
  const tookMs = drainMs(plan, backlog, startMs);
  const { stopMs, compression, arrivalRate, serviceRate, rate, concurrency, handlerMs, drainedBelow } = plan;
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  return [
    `stop: 3600 s / ${compression} = ${seconds(stopMs)}; rates as they are, so every duration is 1/${compression} of its real length`,
    `service: the smaller of rate ${rate}/s and ${concurrency} slots / ${handlerMs} ms = ${(concurrency * 1000) / handlerMs}/s: ${serviceRate}/s`,
    `expected backlog: ${arrivalRate}/s x ${seconds(stopMs)} = ${Math.round((arrivalRate * stopMs) / 1000)}; counted: ${backlog}`,
    `drain: (${backlog} + ${arrivalRate}/s x ${seconds(startMs)} of start + ${(serviceRate * handlerMs) / 1000} in slots - ${drainedBelow}) / (${serviceRate}/s - ${arrivalRate}/s) = ${seconds(tookMs)}` +
      (compression === 1 ? '' : `; uncompressed ${seconds(tookMs * compression)}`),
  ];
}
