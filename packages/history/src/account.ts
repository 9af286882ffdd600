import type { History } from './records/history.ts';
import type { Judgement } from './rules/judgement.ts';

/** What a run came to. */
export interface Account {
  /** Jobs whose enqueue was confirmed at least once. */
  readonly accepted: number;
  /** Jobs that were completed at least once, cancelled ones included; also those whose completion nobody confirmed and that are gone. */
  readonly completed: number;
  /** Jobs that are in the dead letters at the end; where no end was recorded, those whose last confirmed end is a burial. */
  readonly dead: number;
  readonly discarded: number;
  readonly redriven: number;
  readonly effects: number;
  /** Effects of the same name on the same job, beyond the first. */
  readonly duplicates: number;
  /** Completions of a job beyond the first. */
  readonly extraCompletions: number;
  readonly lost: number;
  /** Jobs with a lease that ended without a settlement, and that were claimed again. */
  readonly recovered: number;
  /** The longest time from the end of such a lease to the next claim, in ms; null: there was none. */
  readonly worstRecoveryMs: number | null;
  readonly unknownAnswers: number;
  /** Injected faults by kind. */
  readonly faults: Readonly<Record<string, number>>;
  readonly lines: number;
  readonly tornLines: number;
  readonly processes: number;
}

/** Adds up job by job. */
export class AccountBook {
  accepted = 0;
  completed = 0;
  dead = 0;
  discarded = 0;
  redriven = 0;
  effects = 0;
  duplicates = 0;
  extraCompletions = 0;
  recovered = 0;
  worstRecoveryMs: number | null = null;

  /** `recoveryMs` as `judgeRecovery` answers it. */
  add(judgement: Judgement, recoveryMs: number | null): void {
    const { job, born, completed, buried, discarded, history } = judgement;
    if (born > 0) this.accepted += 1;
    if (completed.length > 0 || mustBeCompleted(judgement)) this.completed += 1;
    this.extraCompletions += Math.max(0, completed.length - 1);
    this.discarded += discarded;
    const redriven = job.moves.filter(({ does, status }) => does === 'redrive' && status === 'done').length;
    this.redriven += redriven;
    const isDead = history.finals.has(job.queue)
      ? job.found.some(({ state }) => state === 'dead')
      : buried.length > redriven + discarded;
    if (isDead) this.dead += 1;
    this.effects += job.effects;
    this.duplicates += job.effects - job.effectNames.length;
    if (recoveryMs === null) return;
    this.recovered += 1;
    this.worstRecoveryMs = Math.max(this.worstRecoveryMs ?? 0, recoveryMs);
  }

  total(history: History, lost: number, tornLines: number): Account {
    const { accepted, completed, dead, discarded, redriven, effects, duplicates, extraCompletions } = this;
    const { recovered, worstRecoveryMs } = this;
    return {
      accepted,
      completed,
      dead,
      discarded,
      redriven,
      effects,
      duplicates,
      extraCompletions,
      lost,
      recovered,
      worstRecoveryMs: worstRecoveryMs === null ? null : Math.round(worstRecoveryMs),
      unknownAnswers: history.book.unknownAnswers,
      faults: Object.fromEntries([...history.faults].sort(([a], [b]) => (a < b ? -1 : 1))),
      lines: history.lines,
      tornLines,
      processes: history.processes.size,
    };
  }
}

/** Its completion was sent, nobody answered, and at the end the store did not know it: so it was done. */
function mustBeCompleted({ job, history, maybeCompleted, discarded, maybeDiscarded }: Judgement): boolean {
  const isGone = history.finals.has(job.queue) && job.found.length === 0;
  return isGone && maybeCompleted > 0 && discarded + maybeDiscarded === 0;
}

/** The account as a table of two columns, for people. */
export function accountLines(account: Account): readonly string[] {
  const faults = Object.entries(account.faults).map(([kind, count]) => `${kind} ${count}`);
  const rows: readonly (readonly [string, string])[] = [
    ['accepted', String(account.accepted)],
    ['completed', String(account.completed)],
    ['dead', String(account.dead)],
    ['discarded', String(account.discarded)],
    ['redriven', String(account.redriven)],
    ['effects', String(account.effects)],
    ['duplicates', String(account.duplicates)],
    ['lost', String(account.lost)],
    ['faults', faults.length === 0 ? 'none' : faults.join(', ')],
    ['unknown answers', String(account.unknownAnswers)],
    [
      'worst recovery',
      account.worstRecoveryMs === null ? 'none was needed' : `${account.worstRecoveryMs} ms`,
    ],
    ['lines', `${account.lines} of ${account.processes} processes, ${account.tornLines} torn`],
  ];
  return rows.map(([name, value]) => `${name.padEnd(16)}  ${value}`);
}
