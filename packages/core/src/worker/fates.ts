import type { Attempt } from './attempt.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import type { LoopWatch } from './loop-watch.ts';
import type { Reporter } from './reporter.ts';
import type { RunningAttempts } from './running-attempts.ts';

/** The one place where an attempt becomes `gone`: its end was confirmed, or its lease was lost. Each is told once. */
export class Fates {
  readonly #keeper: LeaseKeeper;
  readonly #running: RunningAttempts;
  readonly #loop: LoopWatch;
  readonly #reporter: Reporter;
  /** Attempts whose end the store has confirmed, releases apart. */
  finished = 0;
  released = 0;

  constructor(keeper: LeaseKeeper, running: RunningAttempts, loop: LoopWatch, reporter: Reporter) {
    this.#keeper = keeper;
    this.#running = running;
    this.#loop = loop;
    this.#reporter = reporter;
  }

  /** The lease is over: nothing of this attempt may reach the store any more. */
  lost(attempt: Attempt, reason: string): void {
    const { state, uncertain } = attempt;
    if (state === 'gone') return;
    const now = performance.now();
    attempt.state = 'gone';
    this.#keeper.remove(attempt);
    // One whose settlement may have been stored is not known to be lost.
    if (!uncertain)
      this.#reporter.leaseLost(attempt, reason, this.#loop.longestSince(attempt.group.knownAt, now));
    if (state === 'running') {
      this.#running.becomeZombie(attempt, now);
      attempt.abort('lease-lost', `the lease was lost: ${reason}`);
      this.#reporter.zombie(attempt, 'running');
    }
    this.#reporter.ended(attempt, uncertain ? 'unknown' : 'lease-lost');
  }

  /** The store's answer to its settlement. */
  confirmed(attempt: Attempt, status: 'settled' | 'lease-lost'): void {
    if (attempt.state === 'gone') return;
    if (status === 'lease-lost') return this.lost(attempt, 'the store refused to settle it');
    this.#keeper.remove(attempt);
    attempt.state = 'gone';
    if (attempt.outcome === 'released') this.released += 1;
    else this.finished += 1;
    this.#reporter.ended(attempt, attempt.outcome);
  }
}
