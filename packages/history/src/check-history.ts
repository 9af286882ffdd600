import { type Account, AccountBook } from './account.ts';
import type { Finding } from './finding.ts';
import { readLines } from './reading/read-lines.ts';
import { History } from './records/history.ts';
import type { Promises } from './records/records.ts';
import { judgeAttempts } from './rules/attempts.ts';
import { judgeCopies, judgeResurrection } from './rules/copies.ts';
import { judgeDeaths } from './rules/deaths.ts';
import { judgeHolders } from './rules/holders.ts';
import { Judgement, type Terms } from './rules/judgement.ts';
import { judgeSettlements } from './rules/settlements.ts';
import { judgeDue, judgeRecovery } from './rules/timing.ts';

/** How a history is judged. */
export interface CheckOptions {
  /** Left out: what the traced backends say of themselves. */
  readonly moves?: 'atomic' | 'copy';
  /**
   * A job whose holder was lost must be claimed again so long after the end of its lease at the latest: for runs whose workers always
   * have room. Left out: only claims that had room and came back without it tell, where moves are atomic.
   */
  readonly reclaimWithinMs?: number;
  /** What roundings and the turns of an event loop may add up to; 20 ms when left out. */
  readonly slackMs?: number;
  /** Jobs that no trace enqueued are no finding. */
  readonly untracedProducers?: boolean;
}

/** What a check came to. */
export interface HistoryReport {
  /** There is no finding. */
  readonly whole: boolean;
  readonly findings: readonly Finding[];
  readonly account: Account;
  /** The final state was recorded: only then a lost job can be told from one that waits. */
  readonly complete: boolean;
}

/** Of a trace without a line about its backend: the least that is promised. */
const LEAST: Promises = {
  moves: 'copy',
  attempts: 'upper-bound',
  fence: 'none',
  endsBy: 'time-or-connection',
  reclaimBoundMs: 0,
  marginMs: 0,
};

/**
 * Reads all the traces of a run, any number of processes, and reports what the promises rule out. Answers that are unknown count as both
 * done and not done. Times are compared only within one host; between hosts only the order of fences is used. Throws UnreadableTrace.
 */
export async function checkHistory(
  files: readonly string[],
  options: CheckOptions = {},
): Promise<HistoryReport> {
  const { history, torn } = await readHistory(files);
  const terms = termsOf(history, options);
  const findings: Finding[] = [];
  const book = new AccountBook();
  for (const job of history.jobs.values()) {
    const judgement = new Judgement(job, history, terms, findings, files);
    judgeHolders(judgement);
    judgeResurrection(judgement);
    judgeSettlements(judgement);
    judgeDue(judgement);
    judgeAttempts(judgement);
    judgeDeaths(judgement);
    judgeCopies(judgement);
    book.add(judgement, judgeRecovery(judgement));
  }
  const lost = findings.filter(({ kind }) => kind === 'lost').length;
  return {
    whole: findings.length === 0,
    findings,
    account: book.total(history, lost, torn),
    complete: history.finals.size > 0,
  };
}

/** Ids that were or may have been accepted and have no confirmed end in these traces: those to look for in the store. Throws UnreadableTrace. */
export async function openJobs(files: readonly string[]): Promise<readonly string[]> {
  const { history } = await readHistory(files);
  const open: string[] = [];
  for (const { id, births, leases } of history.jobs.values()) {
    const isBorn = births.some(({ status }) => status !== 'rejected');
    const isCompleted = leases.some(({ settles }) =>
      settles.some(({ does, outcome }) => does === 'complete' && outcome === 'settled'),
    );
    if (isBorn && !isCompleted) open.push(id);
  }
  return open;
}

async function readHistory(
  files: readonly string[],
): Promise<{ readonly history: History; readonly torn: number }> {
  const history = new History();
  let torn = 0;
  for (const [index, file] of files.entries())
    torn += await readLines(file, index, (line, ref) => history.take(line, ref));
  history.book.end();
  return { history, torn };
}

function termsOf(history: History, options: CheckOptions): Terms {
  const promises = history.promises ?? LEAST;
  return {
    ...promises,
    moves: options.moves ?? promises.moves,
    slackMs: options.slackMs ?? 20,
    reclaimWithinMs: options.reclaimWithinMs ?? null,
    untracedProducers: options.untracedProducers ?? false,
  };
}
