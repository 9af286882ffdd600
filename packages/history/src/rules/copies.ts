import { mayBeUndone } from './explained-copies.ts';
import { isAfter, type Judgement, sameClock } from './judgement.ts';

/** An accepted job is never lost, ends, and has no copies that nothing explains (G1, G6). */
export function judgeCopies(judgement: Judgement): void {
  const { births, history, terms, job } = judgement;
  const isSeen = job.leases.length > 0 || held(judgement).length > 0;
  if (births.length === 0) {
    if (isSeen && history.hasEnqueues && !terms.untracedProducers) stranger(judgement);
    return;
  }
  // What follows from a settlement that should not have counted is told there.
  if (judgement.hasAny('two-holders', 'fenced-settled', 'settled-twice')) return;
  judgeBalance(judgement);
  if (judgement.hasAny('extra-copy')) return;
  judgeEnd(judgement);
}

function stranger(judgement: Judgement): void {
  const { job } = judgement;
  const refused = job.births.map(({ ansRef }) => ansRef);
  const refs = [...refused, job.leases[0]?.claim.ansRef ?? 0, job.found[0]?.ref ?? 0];
  const what =
    refused.length > 0
      ? 'It is there although its enqueue was answered with: not stored.'
      : 'Nobody enqueued it.';
  judgement.report('extra-copy', refs, what);
}

/** Claimed after it had ended for good. Before settlements are judged: the second end follows from it. */
export function judgeResurrection(judgement: Judgement): void {
  const { completed, leases, lives, terms } = judgement;
  if (terms.moves === 'copy') return judgeCopyAgain(judgement);
  const [end] = completed;
  if (end === undefined || lives > 1) return;
  const ended = leases.find(({ settles }) => settles.includes(end));
  const later = leases.find(
    (lease) =>
      ended !== undefined &&
      lease !== ended &&
      isAfter(lease, ended, terms.fence === 'monotonic') &&
      sameClock(lease.claim, end) &&
      lease.claim.at > end.ansAt,
  );
  if (later === undefined) return;
  const refs = [end.ref, end.ansRef, later.claim.ref, later.claim.ansRef];
  judgement.report('extra-copy', refs, 'It was claimed after it had been completed.');
}

/** Every settlement ends the copy that it settles: what is stored again is another one. */
function judgeCopyAgain(judgement: Judgement): void {
  const { leases, history } = judgement;
  for (const lease of leases) {
    const end = lease.settles.find(
      (settle) => settle.outcome === 'settled' && !mayBeUndone(settle, history.undone),
    );
    if (end === undefined || lease.copy === null) continue;
    const later = leases.find(
      (other) =>
        other !== lease &&
        other.copy === lease.copy &&
        sameClock(other.claim, end) &&
        other.claim.at > end.ansAt,
    );
    if (later === undefined) continue;
    const refs = [end.ref, end.ansRef, later.claim.ref, later.claim.ansRef];
    return judgement.report('extra-copy', refs, 'A copy was handed out again after it had been settled.');
  }
}

function judgeBalance(judgement: Judgement): void {
  if (judgement.hasAny('extra-copy')) return;
  const { job, terms, births, completed, buried, discarded, redriven, explained } = judgement;
  const stored = held(judgement);
  const refs = [...completed.map(({ ansRef }) => ansRef), ...stored.map(({ ref }) => ref)];
  if (terms.moves === 'atomic') {
    const left = births.length - completed.length - discarded;
    if (stored.length === 0 || left >= 1) return;
    return judgement.report('extra-copy', refs, 'It has ended, and the store still holds it.');
  }
  const waiting = stored.filter(({ state }) => state !== 'dead').length;
  const moved = job.moves.filter(({ status }) => status === 'done').length;
  // Dead ones that nobody was seen to bury count too.
  const dead = Math.max(buried.length, stored.length - waiting + moved);
  const copies = completed.length + dead + waiting;
  const allowed = births.length + redriven + explained;
  if (copies <= allowed) return;
  const ends = [...completed, ...buried].map(({ ansRef }) => ansRef);
  const what = `${copies} copies of it are known; enqueues, redrives and faults explain ${allowed}.`;
  judgement.report('extra-copy', [...ends, ...refs], what);
}

/** Lost, or left. Without the final state of its queue nobody can tell. */
function judgeEnd(judgement: Judgement): void {
  const { job, history, births, terms } = judgement;
  const final = history.finals.get(job.queue);
  const stored = held(judgement);
  const waits = stored.find(({ state }) => state !== 'dead');
  const accepted = births.find(({ status }) => status === 'accepted');
  const birthRef = (accepted ?? births[0])?.ansRef ?? 0;
  if (waits !== undefined) {
    const what = `It is still ${waits.state}.`;
    return judgement.report('not-terminal', [birthRef, waits.ref], what);
  }
  if (final === undefined || accepted === undefined || stored.length > 0 || isEnded(judgement)) return;
  const isAbsent = job.absentRef !== 0 || final.waiting === 0;
  const last = lastWord(judgement);
  if (isAbsent && final.deadListed) {
    const where = terms.moves === 'atomic' ? 'the store does not know it' : 'the store holds no copy of it';
    return judgement.report(
      'lost',
      [birthRef, ...last, job.absentRef === 0 ? final.ref : job.absentRef],
      `It was accepted, and ${where}.`,
    );
  }
  if (final.waiting === null || final.waiting === 0) return;
  const what = `It has no end, and ${final.waiting} jobs of its queue wait or are leased.`;
  judgement.report('not-terminal', [birthRef, ...last, final.ref], what);
}

/** Whether it has, or may have, an end for every time that it was certainly accepted; where moves are copies one is enough, but a dead letter stays. */
function isEnded(judgement: Judgement): boolean {
  const { terms, born, completed, maybeCompleted, discarded, maybeDiscarded } = judgement;
  const removed = discarded + maybeDiscarded;
  const ends = completed.length + maybeCompleted + removed;
  if (terms.moves === 'atomic') return ends >= born;
  // An operator who names a job meets all its dead letters.
  return ends > 0 && (judgement.buried.length === 0 || judgement.redriven + removed > 0);
}

/** What the store held of it at the end. Records of what has ended are no copies. */
function held({ job }: Judgement): readonly { readonly ref: number; readonly state: string }[] {
  return job.found.filter(({ state }) => state !== 'completed' && state !== 'cancelled');
}

function lastWord({ leases }: Judgement): readonly number[] {
  const last = leases.at(-1);
  if (last === undefined) return [];
  return [last.claim.ansRef, last.settles.at(-1)?.ansRef ?? 0];
}
