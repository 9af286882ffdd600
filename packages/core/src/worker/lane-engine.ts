import type { Capabilities, Claim } from '../contract/index.ts';
import type { GuardedCalls } from '../startup/guarded-calls.ts';
import type { Attempt } from './attempt.ts';
import type { Ask } from './claim-demand.ts';

/** What a lane asks and tells its engine. */
export interface LaneEngine<This> {
  readonly capabilities: Capabilities;
  readonly calls: GuardedCalls;
  readonly leaseMs: number;
  readonly timeoutMs: number;
  /** No settlement waits for others to go with it. */
  readonly settleAtOnce: () => boolean;
  readonly target: () => number;
  /** How many jobs this lane may claim now. */
  readonly ask: (lane: This, now: number) => Ask;
  readonly isStopping: () => boolean;
  readonly received: (lane: This, claim: Claim) => void;
  /** A settling call is about to leave the process, and there is more to start. */
  readonly callSent: () => void;
  /** A call of the lane has ended: slots or shares may be free. */
  readonly callEnded: (lane: This) => void;
  readonly confirmed: (attempt: Attempt, status: 'settled' | 'lease-lost') => void;
  /** Its lease ended before its settlement could be sent. */
  readonly tooLate: (attempt: Attempt) => void;
  readonly paused: (lane: This, paused: boolean) => void;
  readonly failed: (what: string, error: unknown) => void;
  readonly succeeded: (what: 'claim' | 'settle') => void;
}
