/** How failed attempts are spaced and limited (G4). */
export interface RetryPolicy {
  /** Starts a job may have, the first included. */
  readonly maxAttempts: number;
  readonly baseMs: number;
  /** The longest delay before jitter. */
  readonly capMs: number;
}

/**
 * Delay in whole ms before the next attempt, after `attempt` (1 = the first start) has failed:
 * min(base * 2^attempt, cap), then times 0.5 to 1.5. The jitter comes after the cap, so that jobs that have reached it still
 * spread. The exponent is bounded before the power is taken: 2^1024 would be Infinity, and a timer turns that into 1 ms. G4.1
 */
export function backoffMs(
  policy: Pick<RetryPolicy, 'baseMs' | 'capMs'>,
  attempt: number,
  random: () => number = Math.random,
): number {
  const exponent = Math.min(Math.max(attempt, 0), 52);
  const plain = Math.min(policy.baseMs * 2 ** exponent, policy.capMs);
  return Math.round(plain * (0.5 + random()));
}
