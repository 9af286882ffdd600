import type { Finding, FindingKind } from '../finding.ts';
import { placeOf, type Ref } from '../reading/read-lines.ts';
import type { History } from '../records/history.ts';
import type {
  Birth,
  Call,
  JobRecord,
  LeaseRecord,
  MoveRecord,
  Promises,
  SettleRecord,
} from '../records/records.ts';
import { explainedCopies } from './explained-copies.ts';

/** What the rules go by. */
export interface Terms extends Promises {
  readonly slackMs: number;
  readonly reclaimWithinMs: number | null;
  readonly untracedProducers: boolean;
}

/** One job as the rules see it, and what was found of it. Every unknown counts as done where that excuses, and as not done where that does. */
export class Judgement {
  readonly job: JobRecord;
  readonly history: History;
  readonly terms: Terms;
  readonly kinds: Set<FindingKind> = new Set();
  /** In the order of their claims, as far as that is known. */
  readonly leases: readonly LeaseRecord[];
  readonly births: readonly Birth[];
  /** Enqueues that were certainly done, and that may have been besides. */
  readonly born: number;
  readonly maybeBorn: number;
  /** Redrives that were or may have been done. */
  readonly redriven: number;
  readonly discarded: number;
  readonly maybeDiscarded: number;
  readonly completed: readonly SettleRecord[];
  readonly buried: readonly SettleRecord[];
  /** Leases that may have been completed: the answer is unknown. */
  readonly maybeCompleted: number;
  #explained: number | null = null;
  readonly #findings: Finding[];
  readonly #files: readonly string[];

  constructor(job: JobRecord, history: History, terms: Terms, findings: Finding[], files: readonly string[]) {
    this.job = job;
    this.history = history;
    this.terms = terms;
    this.#findings = findings;
    this.#files = files;
    this.leases = inOrder(job.leases, terms.fence === 'monotonic');
    this.births = job.births.filter(({ status }) => status !== 'rejected');
    this.born = this.births.filter(({ status }) => status === 'accepted').length;
    this.maybeBorn = this.births.length - this.born;
    const { lostRedrives, lostDiscards } = history.book;
    const moves = (does: MoveRecord['does'], status: MoveRecord['status']): number =>
      job.moves.filter((move) => move.does === does && move.status === status).length;
    this.redriven =
      moves('redrive', 'done') + moves('redrive', 'unknown') + (lostRedrives.get(job.queue) ?? 0);
    this.discarded = moves('discard', 'done');
    this.maybeDiscarded = moves('discard', 'unknown') + (lostDiscards.get(job.queue) ?? 0);
    this.completed = this.leases.flatMap((lease) => confirmed(lease, 'complete') ?? []);
    this.buried = this.leases.flatMap((lease) => confirmed(lease, 'bury') ?? []);
    this.maybeCompleted = this.leases.filter(
      (lease) => confirmed(lease, 'complete') === null && isUnknown(lease, 'complete'),
    ).length;
  }

  /** Lives that the job can have had: enqueues and redrives, done or perhaps done. */
  get lives(): number {
    return this.births.length + this.redriven;
  }
  /** Nothing but what its leases tell has happened to it. */
  get isPlain(): boolean {
    return this.lives <= 1 && (this.terms.moves === 'atomic' || this.explained === 0);
  }

  /** Copies that faults may have added, where a move can leave two. */
  get explained(): number {
    if (this.terms.moves === 'atomic') return 0;
    this.#explained ??= explainedCopies(this.job, this.history);
    return this.#explained;
  }

  report(kind: FindingKind, refs: readonly Ref[], what: string): void {
    this.kinds.add(kind);
    const lines = [...new Set(refs.filter((ref) => ref !== 0))].map((ref) => placeOf(ref, this.#files));
    this.#findings.push({ kind, jobId: this.job.id, lines, what });
  }

  /** A cause that was found explains what follows from it. */
  hasAny(...kinds: readonly FindingKind[]): boolean {
    return kinds.some((kind) => this.kinds.has(kind));
  }
}

/** Whether their times can be compared. */
export function sameClock(a: Call, b: Call): boolean {
  return a.process.host === b.process.host;
}

/** The settlement of this kind that the store confirmed; null: none. */
export function confirmed(
  lease: LeaseRecord,
  ...kinds: readonly SettleRecord['does'][]
): SettleRecord | null {
  return lease.settles.find(({ does, outcome }) => outcome === 'settled' && kinds.includes(does)) ?? null;
}

/** Whether a settlement of this kind was sent and its answer is not known. */
export function isUnknown(lease: LeaseRecord, ...kinds: readonly SettleRecord['does'][]): boolean {
  return lease.settles.some(({ does, outcome }) => outcome === 'unknown' && kinds.includes(does));
}

/** Whether `later` was certainly claimed after `earlier`: by their fences, or by the clock of their host. */
export function isAfter(later: LeaseRecord, earlier: LeaseRecord, byFence: boolean): boolean {
  if (byFence && later.fence !== earlier.fence) return later.fence > earlier.fence;
  return sameClock(later.claim, earlier.claim) && later.claim.at > earlier.claim.ansAt;
}

function inOrder(leases: readonly LeaseRecord[], byFence: boolean): readonly LeaseRecord[] {
  if (leases.length < 2) return leases;
  return [...leases].sort((a, b) =>
    byFence && a.fence !== b.fence ? a.fence - b.fence : a.claim.ansAt - b.claim.ansAt,
  );
}
