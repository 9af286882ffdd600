import type { Capabilities, Claim } from '../contract/index.ts';
import type { GuardedCalls } from '../startup/guarded-calls.ts';
import type { Attempt } from './attempt.ts';

/** What a lane asks and tells its engine. */
export interface LaneEngine<This> {
  readonly capabilities: Capabilities;
  readonly calls: GuardedCalls;
  readonly leaseMs: number;
  readonly timeoutMs: number;
  readonly strict: boolean;
  readonly target: () => number;
  /** How many jobs this lane may claim now; 0: none. */
  readonly ask: (lane: This) => number;
  /** How long an idle claim waits. */
  readonly waitMs: number;
  readonly isStopping: () => boolean;
  readonly received: (lane: This, claim: Claim) => void;
  readonly confirmed: (attempt: Attempt, status: 'settled' | 'lease-lost') => void;
  readonly paused: (lane: This, paused: boolean) => void;
  readonly failed: (what: string, error: unknown) => void;
  readonly succeeded: (what: 'claim' | 'settle') => void;
}
