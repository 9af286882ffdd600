import type { LeaseRecord, SettleRecord } from '../records/records.ts';
import { mayBeUndone } from './explained-copies.ts';
import { confirmed, isAfter, type Judgement, sameClock } from './judgement.ts';

/** Only the holder of the current token settles, and only once (G2.1, G2.4, G2.8). */
export function judgeSettlements(judgement: Judgement): void {
  if (judgement.hasAny('extra-copy')) return;
  for (const lease of judgement.leases) {
    judgeLease(judgement, lease);
    if (judgement.hasAny('fenced-settled', 'settled-twice')) return;
  }
  if (judgement.terms.moves === 'atomic') judgeEnds(judgement);
  else judgeCopyEnds(judgement);
}

function judgeLease(judgement: Judgement, lease: LeaseRecord): void {
  const { slackMs } = judgement.terms;
  const done = lease.settles.filter(({ outcome }) => outcome === 'settled');
  const late = done.find(({ at }) => at > lease.endMax + slackMs);
  if (late !== undefined) {
    const by = Math.round(late.at - lease.endMax);
    return fenced(judgement, lease, late, [], `was sent ${by} ms after its lease had ended`);
  }
  const newer = done.length === 0 ? undefined : overtaker(judgement, lease);
  const [first, second] = done;
  if (newer !== undefined && first !== undefined) {
    return fenced(
      judgement,
      lease,
      first,
      [newer.claim.ansRef],
      'was confirmed although another claim had followed',
    );
  }
  if (first === undefined || second === undefined) return;
  const refs = [first.ref, first.ansRef, second.ref, second.ansRef];
  judgement.report('settled-twice', refs, 'Two settlements of one lease were confirmed.');
}

function fenced(
  judgement: Judgement,
  lease: LeaseRecord,
  settle: SettleRecord,
  others: readonly number[],
  why: string,
): void {
  const refs = [lease.claim.ansRef, lease.effectRef, ...others, settle.ref, settle.ansRef];
  const what = lease.effectRef === 0 ? 'A settlement' : 'A settlement, after an effect,';
  judgement.report('fenced-settled', refs, `${what} ${why}.`);
}

/** A claim of the same copy that came before a settlement which was confirmed all the same. */
function overtaker(judgement: Judgement, lease: LeaseRecord): LeaseRecord | undefined {
  const { leases, terms, isPlain } = judgement;
  if (leases.length < 2) return undefined;
  const byFence = terms.fence === 'monotonic' && isPlain;
  const settle = confirmed(lease, 'complete', 'retry', 'bury', 'release');
  const end = confirmed(lease, 'complete', 'bury');
  return leases.find((other) => {
    if (other === lease || settle === null || !isSameCopy(judgement, other, lease)) return false;
    if (!isAfter(other, lease, byFence)) return false;
    if (sameClock(other.claim, settle) && other.claim.ansAt < settle.at) return true;
    // After its end there is no claim: so that claim came before, whenever that was.
    return end !== null && byFence && !isLater(other, end);
  });
}

/** Claimed for certain after the end, so that it is a copy that should not be. */
function isLater({ claim }: LeaseRecord, end: SettleRecord): boolean {
  return sameClock(claim, end) && claim.at > end.ansAt;
}

function isSameCopy({ terms, isPlain }: Judgement, a: LeaseRecord, b: LeaseRecord): boolean {
  if (a.copy !== null && b.copy !== null) return a.copy === b.copy;
  return terms.moves === 'atomic' || isPlain;
}

/** A job that has one copy ends once for each time that it was enqueued or redriven. */
function judgeEnds(judgement: Judgement): void {
  const { completed, buried, lives, terms, births } = judgement;
  const ends = [...completed, ...buried];
  if (births.length === 0 && terms.untracedProducers) return;
  if (ends.length <= Math.max(1, lives)) return;
  const refs = ends.flatMap(({ ref, ansRef }) => [ref, ansRef]);
  judgement.report(
    'settled-twice',
    refs,
    `It was ended ${ends.length} times; it lived ${Math.max(1, lives)} times.`,
  );
}

/** One copy is settled once, by one of its holders, whatever their clocks say. */
function judgeCopyEnds(judgement: Judgement): void {
  const { leases, history } = judgement;
  if (leases.length < 2) return;
  const ends = new Map<string, SettleRecord>();
  for (const { copy, settles } of leases) {
    const end = settles.find(({ outcome }) => outcome === 'settled');
    if (copy === null || end === undefined || mayBeUndone(end, history.undone)) continue;
    const first = ends.get(copy);
    if (first !== undefined) {
      const refs = [first.ref, first.ansRef, end.ref, end.ansRef];
      return judgement.report('settled-twice', refs, 'One copy was settled under two leases.');
    }
    ends.set(copy, end);
  }
}
