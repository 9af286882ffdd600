import type { History } from '../records/history.ts';
import type { Call, JobRecord, LeaseRecord, Process, UndoneSpan } from '../records/records.ts';

/** A process that lives is not silent for much longer than it was before: its claims wait so long, and then answer. */
const SILENCE = { times: 2, leastMs: 2000 } as const;

/** A time for which a job was put off, and the host by whose clock. */
interface Stay {
  readonly process: Process;
  readonly from: number;
  readonly to: number;
}

/**
 * How many copies of a job, beyond those that were enqueued or redriven, faults explain where moves are copies:
 * - whatever names the job;
 * - a retry, release or burial whose answer is unknown: its copy may be stored, and the original stay. A completion makes no copy;
 * - a settlement, redrive or discard that was confirmed while acknowledgements may have been undone: the original comes back;
 * - a process that died: what it was moving by itself just then, out of a delay, after the end of a lease, or back unclaimed, nobody can tell.
 */
export function explainedCopies(job: JobRecord, history: History): number {
  const settles = job.leases.flatMap((lease) => lease.settles);
  const unclear = settles.filter(({ does, outcome }) => outcome === 'unknown' && does !== 'complete').length;
  const confirmed = settles.filter(({ outcome }) => outcome === 'settled');
  const moved = job.moves.filter(({ status }) => status === 'done');
  const undone = [...confirmed, ...moved].filter((call) => mayBeUndone(call, history.undone)).length;
  return job.named + unclear + undone + movedByTheDead(job, history);
}

/** Whether an end of the broker may have undone what was confirmed. */
export function mayBeUndone({ process, at, ansAt }: Call, spans: readonly UndoneSpan[]): boolean {
  return spans.some(({ host, from, to }) => host !== process.host || (ansAt >= from && at <= to));
}

function movedByTheDead(job: JobRecord, { dead }: History): number {
  if (dead.length === 0) return 0;
  const dying = job.leases.filter(({ claim, settles }) => claim.process.open > 0 && settles.length === 0);
  const stays = staysOf(job);
  const meanwhile = dead.filter((process) => stays.some((stay) => mayHaveDiedIn(process, stay)));
  return dying.length + meanwhile.length;
}

function mayHaveDiedIn({ host, lastAt, silenceMs }: Process, { process, from, to }: Stay): boolean {
  const diedBy = lastAt + Math.max(SILENCE.leastMs, SILENCE.times * silenceMs);
  return host !== process.host || (lastAt <= to && diedBy >= from);
}

/** Processes move what is put off. What waits they may have been brought and be giving back: then it was charged, and nobody tells of a claim. */
function staysOf(job: JobRecord): readonly Stay[] {
  const births = job.births.map((birth) => ({ call: birth, delayMs: birth.delayMs, does: 'enqueue' }));
  const back = job.leases
    .flatMap((lease) => lease.settles)
    .map((settle) => ({ call: settle, delayMs: settle.delayMs, does: settle.does }));
  const isBrought = wasBroughtUnseen(job);
  return [...births, ...back]
    .filter(({ delayMs, does }) => (delayMs > 0 || isBrought) && does !== 'complete' && does !== 'bury')
    .map(({ call }) => ({ process: call.process, from: call.at, to: nextClaim(job.leases, call) }));
}

/** Whether it was charged more often than claims of it are known. */
function wasBroughtUnseen({ leases }: JobRecord): boolean {
  return leases.some(({ attempt, claim }) => {
    const before = leases.filter((other) => other.claim.ansAt < claim.ansAt).length;
    return attempt - 1 > before;
  });
}

function nextClaim(leases: readonly LeaseRecord[], { at, process }: Call): number {
  let next = Infinity;
  for (const { claim } of leases)
    if (claim.process.host === process.host && claim.ansAt > at) next = Math.min(next, claim.ansAt);
  return next;
}
