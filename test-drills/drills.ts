import { killWorker } from './01-kill-worker/drill.ts';
import { deliverTwice } from './02-deliver-twice/drill.ts';
import { poison } from './03-poison/drill.ts';
import { stopAnHour } from './04-stop-an-hour/drill.ts';
import { brokerRestart } from './05-broker-restart/drill.ts';
import { brokerKill } from './06-broker-kill/drill.ts';
import { partition } from './07-partition/drill.ts';
import { clockSkew } from './08-clock-skew/drill.ts';
import { deployStorm } from './09-deploy-storm/drill.ts';
import { thunderingRetry } from './10-thundering-retry/drill.ts';
import { requeueFlood } from './11-requeue-flood/drill.ts';
import type { Drill } from './stage/drill.ts';

/** Every drill, in the order in which `all` runs them. */
export const DRILLS: readonly Drill[] = Object.freeze([
  killWorker,
  deliverTwice,
  poison,
  stopAnHour,
  brokerRestart,
  brokerKill,
  partition,
  clockSkew,
  deployStorm,
  thunderingRetry,
  requeueFlood,
]);

/** The named drill, or every one for `all`; null: there is none of that name. */
export function drillsNamed(name: string): readonly Drill[] | null {
  if (name === 'all') return DRILLS;
  const drill = DRILLS.find((each) => each.name === name);
  return drill === undefined ? null : [drill];
}
