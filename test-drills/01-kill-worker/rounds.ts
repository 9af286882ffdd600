import type { Random } from '../stage/random.ts';
import type { Sabotage } from '../stage/worker-messages.ts';

/** One way in which a worker goes. */
export interface Round {
  readonly name: string;
  /** Where it is when it goes. */
  readonly at: 'claimed' | 'mid-job' | 'settling' | 'settle-sent';
  /** `killed`: SIGKILL. `frozen`: SIGSTOP until another has done its jobs, then SIGCONT. */
  readonly fate: 'killed' | 'frozen';
  readonly sabotage: (jobs: number) => Sabotage;
}

/** From the answer's way through the adapter up to after it. */
const MIDDLE_OF_A_SETTLE_MS = 4;

/** Every round of the drill, once. */
export function roundsOf(random: Random): readonly Round[] {
  return [
    {
      name: 'killed right after the claim',
      at: 'claimed',
      fate: 'killed',
      sabotage: () => ({ holds: { claimed: 1 } }),
    },
    {
      name: 'killed in mid-job',
      at: 'mid-job',
      fate: 'killed',
      sabotage: (jobs) => ({ holds: { 'mid-job': jobs } }),
    },
    {
      name: 'killed between effect and settle',
      at: 'settling',
      fate: 'killed',
      sabotage: (jobs) => ({ holds: { settling: jobs } }),
    },
    {
      name: 'killed in the middle of a settle',
      at: 'settle-sent',
      fate: 'killed',
      // From inside: the way over this process would take longer than the settle.
      sabotage: () => ({ dies: [{ at: 'settle-sent', afterMs: random.int(0, MIDDLE_OF_A_SETTLE_MS) }] }),
    },
    {
      name: 'frozen in mid-job past its lease',
      at: 'mid-job',
      fate: 'frozen',
      sabotage: (jobs) => ({ holds: { 'mid-job': jobs } }),
    },
    {
      name: 'frozen before its settle past its lease',
      at: 'settling',
      fate: 'frozen',
      sabotage: (jobs) => ({ holds: { settling: jobs } }),
    },
  ];
}
