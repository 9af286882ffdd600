import type { LeaseRecord } from '../records/records.ts';
import { mayBeUndone } from './explained-copies.ts';
import { confirmed, isUnknown, type Judgement } from './judgement.ts';

/** Never more starts than the limit, and none charged that was not one (G4.3, G4.4, G4.5). */
export function judgeAttempts(judgement: Judgement): void {
  const { leases, terms, job } = judgement;
  const beyond = leases.find(
    (lease) => isStarted(lease) && lease.attempt > (limitOf(judgement, lease) ?? Infinity),
  );
  if (beyond !== undefined) {
    const what = `Attempt ${beyond.attempt} of ${limitOf(judgement, beyond)} was started.`;
    return judgement.report(
      'attempts-exceeded',
      [beyond.claim.ansRef, beyond.startRef, beyond.effectRef],
      what,
    );
  }
  judgeStarts(judgement);
  if (terms.attempts === 'exact' && job.births.length > 0) judgeCharges(judgement);
}

/** Counted by starts, whatever the store says of attempts. */
function judgeStarts(judgement: Judgement): void {
  const { leases, lives, explained } = judgement;
  const charged = leases.filter(
    (lease) => isStarted(lease) && !mayBeRefunded(lease) && !mayBeForgotten(judgement, lease),
  );
  const limit = leases.reduce((most, lease) => Math.max(most, limitOf(judgement, lease) ?? Infinity), 0);
  const allowed = limit * (Math.max(1, lives) + explained);
  if (charged.length <= allowed) return;
  const refs = charged.map(({ startRef, effectRef, claim }) => startRef || effectRef || claim.ansRef);
  judgement.report(
    'attempts-exceeded',
    refs,
    `It was started ${charged.length} times; ${allowed} are allowed.`,
  );
}

/** A claim is charged once, a release not at all; a claim whose answer was lost may have been of this job. */
function judgeCharges(judgement: Judgement): void {
  const { leases, job, history, terms, births } = judgement;
  if (births.length > 1 || (births.length === 0 && terms.untracedProducers)) return;
  const unseen = history.book.lostClaims.get(job.queue) ?? 0;
  for (const lease of leases) {
    const others = leases.filter(
      (other) => other !== lease && other.redrives === lease.redrives && !isRefunded(other),
    );
    if (lease.attempt <= 1 + others.length + unseen) continue;
    const refs = [...others.map(({ claim }) => claim.ansRef), lease.claim.ansRef];
    const what = `It was handed out as attempt ${lease.attempt}; ${others.length} claims of it can have been charged before.`;
    return judgement.report('overcharged', refs, what);
  }
}

function limitOf({ job }: Judgement, lease: LeaseRecord): number | null {
  return lease.limit ?? job.maxAttempts;
}

/** Its handler ran: it says so, or had an effect, or an end that only a run has. */
function isStarted(lease: LeaseRecord): boolean {
  if (lease.startRef !== 0 || lease.effectRef !== 0) return true;
  return lease.settles.some(({ does }) => does === 'complete' || does === 'retry');
}

function mayBeRefunded(lease: LeaseRecord): boolean {
  return isRefunded(lease) || isUnknown(lease, 'release');
}

function isRefunded(lease: LeaseRecord): boolean {
  return confirmed(lease, 'release') !== null;
}

/** What a broker had not written when it ended is undone: that it had handed the job out, too. */
function mayBeForgotten({ terms, history }: Judgement, { claim }: LeaseRecord): boolean {
  return terms.moves === 'copy' && mayBeUndone(claim, history.undone);
}
