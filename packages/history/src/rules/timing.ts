import type { LeaseRecord } from '../records/records.ts';
import { confirmed, isAfter, type Judgement, sameClock } from './judgement.ts';

/** What the rates of two clocks may differ by, as a share of the time that passed. */
const DRIFT = 0.002;
/** One empty answer proves nothing; so many, one after the other, do. */
const EMPTY_ANSWERS = 3;

/** Never before it is due (G8.1, G8.2, G4.2). By the clock of one host only. */
export function judgeDue(judgement: Judgement): void {
  const { births, leases, terms } = judgement;
  const due = births.reduce(
    (first, { at, delayMs }) => Math.min(first, at + delayMs * (1 - DRIFT)),
    Infinity,
  );
  const [birth] = births;
  for (const lease of leases) {
    const { claim } = lease;
    if (birth === undefined || !births.every((one) => sameClock(one, claim))) break;
    const byMs = due - terms.slackMs - claim.ansAt;
    if (byMs <= 0) continue;
    const refs = [birth.ref, claim.ansRef];
    return judgement.report(
      'early',
      refs,
      `It was handed out ${Math.ceil(byMs)} ms before the delay of its enqueue was over.`,
    );
  }
  if (judgement.isPlain && !judgement.hasAny('two-holders', 'fenced-settled')) judgeReturns(judgement);
}

/** A job that was put back comes no sooner than it was told to. */
function judgeReturns(judgement: Judgement): void {
  const { leases, terms } = judgement;
  for (const lease of leases) {
    const back = confirmed(lease, 'retry', 'release');
    if (back === null || back.delayMs <= 0) continue;
    const due = back.at + back.delayMs * (1 - DRIFT) - terms.slackMs;
    const early = leases.find(
      (other) =>
        other !== lease &&
        isAfter(other, lease, terms.fence === 'monotonic') &&
        sameClock(other.claim, back) &&
        other.claim.ansAt > back.at &&
        other.claim.ansAt < due,
    );
    if (early === undefined) continue;
    const what = `It was handed out ${Math.ceil(due - early.claim.ansAt)} ms before the delay of its ${back.does} was over.`;
    return judgement.report('early', [back.ref, back.ansRef, early.claim.ansRef], what);
  }
}

/**
 * A job whose holder was lost is claimable again within the bound (G2.10). That it was claimed late proves nothing: others may have stood
 * before it. That claims with room came back without it does, where the store has one copy of everything. The answer is the longest time
 * from the end of a lost lease to the next claim, null: none was lost.
 */
export function judgeRecovery(judgement: Judgement): number | null {
  let worst: number | null = null;
  for (const [index, lease] of judgement.leases.entries()) {
    const next = judgement.leases[index + 1];
    const isLost = lease.settles.every(({ outcome }) => outcome === 'lease-lost');
    if (next === undefined || !isLost || !sameClock(lease.claim, next.claim)) continue;
    if (!Number.isFinite(lease.endMax) || next.claim.ansAt <= lease.claim.ansAt) continue;
    // A claim in between whose answer was lost was charged too.
    if (next.attempt !== lease.attempt + 1) continue;
    const took = Math.max(0, next.claim.ansAt - lease.endMin);
    worst = Math.max(worst ?? 0, took);
    if (!judgement.hasAny('reclaimed-late')) judgeReclaim(judgement, lease, next);
  }
  return worst;
}

function judgeReclaim(judgement: Judgement, lost: LeaseRecord, next: LeaseRecord): void {
  const { terms, history, job } = judgement;
  const takenAt = next.claim.leasedAt - terms.marginMs;
  const refs = [lost.claim.ansRef, next.claim.ansRef];
  if (terms.reclaimWithinMs !== null) {
    const lateMs = takenAt - lost.endMax - terms.reclaimWithinMs - terms.slackMs;
    if (lateMs <= 0) return;
    const what = `It was claimed again ${Math.ceil(lateMs + terms.reclaimWithinMs)} ms after the end of a lost lease.`;
    return judgement.report('reclaimed-late', refs, what);
  }
  if (terms.moves !== 'atomic') return;
  const from = lost.endMax + terms.reclaimBoundMs + terms.slackMs;
  const { host } = next.claim.process;
  const without = history.book.roomy.between(host, job.queue, from, takenAt, EMPTY_ANSWERS);
  if (without.length < EMPTY_ANSWERS) return;
  const what = `${EMPTY_ANSWERS} claims with room came back without it, later than ${terms.reclaimBoundMs} ms after the end of a lost lease.`;
  judgement.report('reclaimed-late', [refs[0] ?? 0, ...without, refs[1] ?? 0], what);
}
