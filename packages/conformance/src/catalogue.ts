import type { Case } from './case.ts';
import { restartCases } from './cases/g1-restart.ts';
import { storeAwayCases } from './cases/g1-store-away.ts';
import { storedCases } from './cases/g1-stored.ts';
import { transactionCases } from './cases/g1-transaction.ts';
import { leaseTimeCases } from './cases/g2-lease-time.ts';
import { replayCases } from './cases/g2-replay.ts';
import { rivalCases } from './cases/g2-rivals.ts';
import { tokenCases } from './cases/g2-token.ts';
import { idempotencyCases } from './cases/g3-idempotency.ts';
import { limitCases } from './cases/g4-limits.ts';
import { retryCases } from './cases/g4-retry.ts';
import { visibilityCases } from './cases/g5-visibility.ts';
import { deadLetterCases } from './cases/g6-dead-letters.ts';
import { operatorCases } from './cases/g6-operator.ts';
import { boundsCases } from './cases/g7-bounds.ts';
import { timeCases } from './cases/g8-time.ts';
import { pacingCases } from './cases/g9-pacing.ts';
import { faultCases } from './cases/g10-faults.ts';
import { lifeCases } from './cases/g10-life.ts';
import { workerLeaseCases } from './cases/worker-leases.ts';
import { workerLifeCases } from './cases/worker-life.ts';
import { workerRoadCases } from './cases/worker-roads.ts';

/** Every case, in the order of the promises. */
export const CASES: readonly Case[] = Object.freeze(
  [
    storedCases,
    storeAwayCases,
    transactionCases,
    restartCases,
    tokenCases,
    rivalCases,
    leaseTimeCases,
    replayCases,
    idempotencyCases,
    retryCases,
    limitCases,
    visibilityCases,
    deadLetterCases,
    operatorCases,
    boundsCases,
    timeCases,
    pacingCases,
    lifeCases,
    faultCases,
    workerLeaseCases,
    workerLifeCases,
    workerRoadCases,
  ].flat(),
);
