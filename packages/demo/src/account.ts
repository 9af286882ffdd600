import type { Capabilities } from '@surety/core';
import type { Effect } from './effects.ts';
import type { EnqueueReport } from './enqueue-deliveries.ts';
import { CONCURRENCY } from './worker-messages.ts';

/** A dead letter, as far as the account is concerned. */
export interface DeadJob {
  readonly id: string;
  readonly key: string;
  readonly type: string;
  readonly reason: string;
  readonly error: string;
  readonly attempts: number;
}

/** All that the account is made of: what the producer was answered, what the store holds, what was done to the world. */
export interface Evidence {
  readonly enqueued: EnqueueReport;
  /** What the store counts. `waiting`: ready, scheduled and leased together. `dead` null: it cannot count them. */
  readonly counts: { readonly waiting: number; readonly dead: number | null };
  /** What the store lists. */
  readonly dead: readonly DeadJob[];
  readonly effects: readonly Effect[];
  /** Keys that must die, by the rule of the demo. */
  readonly poison: ReadonlySet<string>;
  /** Keys in the hands of the killed worker at its end. */
  readonly interrupted: readonly string[];
  /** How the store moves a job. `copy`: who is killed between the copy and the end of the original leaves both. */
  readonly moves: Capabilities['moves'];
}

/** What became of every job. */
export interface Account {
  readonly accepted: number;
  /** Accepted, and no longer in the store. */
  readonly completed: number;
  readonly dead: number;
  /** Accepted, and now neither in the store nor among the effects. */
  readonly lost: number;
  readonly effects: number;
  readonly ranAgain: number;
  /** Of the interrupted jobs, those that have ended all the same. */
  readonly takenOver: number;
  /** Dead letters beyond the first of their job. */
  readonly extraCopies: number;
  /** What does not add up, a sentence each. Empty: all does. */
  readonly faults: readonly string[];
}

/** Holds the three sources against each other. Pure: the same evidence gives the same account. */
export function accountOf(evidence: Evidence): Account {
  const accepted = new Set(evidence.enqueued.accepted);
  const dead = new Set(evidence.dead.map(({ key }) => key));
  const done = new Set(evidence.effects.map(({ key }) => key));
  const extraCopies = extraCopiesOf(evidence.dead);
  // A job that died and lies there twice is one job.
  const deadJobs = (evidence.counts.dead ?? evidence.dead.length) - extraCopies;
  const completed = accepted.size - evidence.counts.waiting - deadJobs;
  const traceless = [...accepted].filter((key) => !dead.has(key) && !done.has(key));
  // Which jobs still wait cannot be told from counts; so many of the traceless are not lost but late.
  const lost = Math.max(0, traceless.length - evidence.counts.waiting);
  const faults = [
    ...enqueueFaults(evidence.enqueued),
    counted(evidence.counts.waiting, 'still waiting in the queue'),
    lost === 0 ? null : named(traceless, 'accepted and then lost: neither completed, nor dead, nor waiting'),
    done.size === completed
      ? null
      : `The store completed ${completed} jobs, but ${done.size} have had an effect.`,
    evidence.counts.dead === null || evidence.counts.dead === evidence.dead.length
      ? null
      : `The store counts ${evidence.counts.dead} dead letters and lists ${evidence.dead.length}.`,
    extraCopies <= explicable(evidence)
      ? null
      : named(repeated(evidence.dead.map(({ key }) => key)), 'dead twice'),
    named(
      [...dead].filter((key) => done.has(key)),
      'dead although the effect is there',
    ),
    named(
      [...done, ...dead].filter((key) => !accepted.has(key)),
      'done or dead without having been accepted',
    ),
    named(
      [...dead].filter((key) => !evidence.poison.has(key)),
      'dead without a reason in the input',
    ),
    named(
      [...evidence.poison].filter((key) => done.has(key)),
      'completed although they could not',
    ),
    evidence.interrupted.length > 0 ? null : 'The killed worker held no job, so that this run shows nothing.',
  ];
  return {
    accepted: accepted.size,
    completed,
    dead: deadJobs,
    lost,
    effects: done.size,
    ranAgain: evidence.effects.filter(({ runs }) => runs > 1).length,
    extraCopies,
    takenOver: evidence.interrupted.filter((key) => done.has(key) || dead.has(key)).length,
    faults: faults.filter((fault) => fault !== null),
  };
}

/** Dead letters beyond the first of their job. */
export function extraCopiesOf(dead: readonly DeadJob[]): number {
  return dead.length - new Set(dead.map(({ key }) => key)).size;
}

/** Copies that the kill explains: one of each job that the worker had in its hands, at most. */
function explicable({ moves, interrupted }: Evidence): number {
  return moves === 'copy' && interrupted.length > 0 ? CONCURRENCY : 0;
}

/** 0 when the account adds up, else 1. */
export function exitCodeOf({ faults }: Account): number {
  return faults.length === 0 ? 0 : 1;
}

function enqueueFaults({ repeats, refusals }: EnqueueReport): readonly (string | null)[] {
  const [first] = refusals;
  return [
    first === undefined
      ? null
      : `${refusals.length} deliveries were not accepted, the first of them ${first}`,
    repeats.duplicates === repeats.sent
      ? null
      : `Of ${repeats.sent} deliveries sent twice only ${repeats.duplicates} were recognised.`,
  ];
}

function counted(number: number, what: string): string | null {
  return number === 0 ? null : `${jobsAre(number)} ${what}.`;
}

function named(keys: readonly string[], what: string): string | null {
  if (keys.length === 0) return null;
  const shown = keys.slice(0, 3).join(', ');
  return `${jobsAre(keys.length)} ${what}: ${shown}${keys.length > 3 ? ', ...' : ''}.`;
}

function jobsAre(number: number): string {
  return number === 1 ? '1 job is' : `${number} jobs are`;
}

function repeated(keys: readonly string[]): readonly string[] {
  return [...new Set(keys.filter((key, index) => keys.indexOf(key) !== index))];
}
