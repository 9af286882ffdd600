import { defineJob, type JobDefinition } from '@surety/core';

/** What a payload does to its handler. */
export const POISONS = ['throws', 'hangs', 'hoards', 'kills'] as const;
/** See {@link POISONS}. */
export type Poison = (typeof POISONS)[number];

/** What the workers are told. */
export interface PoisonArgs {
  readonly queue: string;
  readonly effects: string;
  /** The handler was repaired: no payload harms it any more. */
  readonly isFixed: boolean;
}

/** Starts that a poison may have. */
export const POISON_ATTEMPTS = 3;
/** Long for a handler that does nothing, short for a drill that waits it out three times. */
const TIMEOUT_MS = 1000;

/** A job whose payload may be poison. */
export function poisonJob(queue: string): JobDefinition<{ readonly poison: Poison }> {
  const retry = { maxAttempts: POISON_ATTEMPTS, base: 100, cap: 500 };
  return defineJob('drill.poison', { queue, retry, timeout: TIMEOUT_MS });
}

/** One that only happens to be in the same worker; with the limits that core gives. */
export function neighbourJob(queue: string): JobDefinition<{ readonly number: number }> {
  return defineJob('drill.neighbour', { queue, retry: { base: 100, cap: 500 } });
}
