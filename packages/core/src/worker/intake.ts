import type { Claim, Lease } from '../contract/index.ts';
import type { Handler } from '../definition/handle.ts';
import { type Admission, admit } from './admission.ts';
import { Attempt } from './attempt.ts';
import type { Lane } from './lane.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import { SuspectReturns } from './suspect-returns.ts';

/** What the intake asks of its engine. */
export interface IntakeEngine {
  readonly keeper: LeaseKeeper;
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly lanes: () => readonly Lane[];
  readonly random: () => number;
  readonly isStopping: () => boolean;
  /** Slots that are neither taken nor promised. */
  readonly freeSlots: () => number;
  /** Slots that will be free in a moment: all of them where short jobs are claimed ahead, else none. */
  readonly soonFree: () => number;
  /** Takes a start from the set rate, if there is one. */
  readonly takeStart: () => boolean;
  readonly start: (lane: Lane, attempt: Attempt) => void;
  /** Starts what is held as far as there are slots. */
  readonly schedule: () => void;
}

/** Where slots change hands fast, the next free one is worth this wait: else a busy worker would never run a suspect. */
const SUSPECT_PATIENCE_MS = 50;
/** A held job that found no slot for this long goes back: claiming ahead is for some tens of ms of work, never for long jobs. */
const HELD_TOO_LONG_MS = 250;
/** From this many losses on a job is the only such one that its worker runs. */
const ALONE_FROM_LOSSES = 2;

/**
 * Takes in what a claim brought. A job whose worker was lost before is a suspect: it may be what killed it, and a crash charges all
 * that the process holds. So a suspect is never held waiting: it starts at once or goes back, and before it starts, all that this
 * worker holds unstarted has been handed back, refunded.
 */
export class Intake {
  readonly #engine: IntakeEngine;
  /** Suspects that run or are about to: nothing is claimed ahead meanwhile. */
  suspects = 0;
  #aloneRunning = 0;
  readonly #returns = new SuspectReturns();
  /** Slots promised to suspects that wait for their neighbours to be handed back. */
  promised = 0;
  /** Suspects whose neighbours are back, until the next slot is free. */
  readonly #next: { readonly lane: Lane; readonly attempt: Attempt; readonly until: number }[] = [];

  constructor(engine: IntakeEngine) {
    this.#engine = engine;
  }

  receive(lane: Lane, claim: Claim): void {
    const now = performance.now();
    const group = this.#engine.keeper.group(claim);
    const suspects: Attempt[] = [];
    for (const lease of claim.leases) {
      const attempt = new Attempt(lease, group, this.#engine.handlers.get(lease.type) ?? null, now);
      this.#engine.keeper.add(attempt);
      this.#place(lane, attempt, suspects);
    }
    if (suspects.length > 0) this.#takeSuspects(lane, suspects);
  }

  /** Hands back everything that is held unstarted. */
  releaseHeld(lane: Lane): void {
    for (const attempt of lane.heldJobs.takeAll()) handBack(lane, attempt, 0);
  }

  /** Hands back what has found no slot for too long, `aheadMs` apart; the answer is how long the oldest was held, 0: none was. */
  returnHeldTooLong(now: number, aheadMs: number): number {
    let longest = 0;
    for (const lane of this.#engine.lanes()) {
      const heldMs = now - (lane.heldJobs.oldestAt ?? now);
      if (heldMs < HELD_TOO_LONG_MS + aheadMs) continue;
      longest = Math.max(longest, heldMs);
      this.releaseHeld(lane);
    }
    return longest;
  }

  /** A suspect has ended or was lost. */
  suspectEnded(attempt: Attempt): void {
    this.suspects -= 1;
    if (attempt.startedAt > 0) this.#returns.ran(performance.now() - attempt.startedAt);
    if (attempt.lease.lostClaims >= ALONE_FROM_LOSSES) this.#aloneRunning -= 1;
  }

  #place(lane: Lane, attempt: Attempt, suspects: Attempt[]): void {
    const admission = admit(attempt.lease, attempt.handler, this.#engine.random);
    if (admission.verdict !== 'start') return settleUnstarted(lane, attempt, admission);
    if (this.#engine.isStopping()) return handBack(lane, attempt, 0);
    if (attempt.isSuspect) suspects.push(attempt);
    else lane.heldJobs.add(attempt);
  }

  /** Starts the suspects whose neighbours are back, as far as there are slots; hands back those that have waited for one for too long. */
  startSuspects(): void {
    if (this.#next.length === 0) return;
    const now = performance.now();
    const waiting = this.#next.splice(0);
    for (const suspect of waiting) {
      const { lane, attempt, until } = suspect;
      const isLate = now >= until;
      // Its own slot is among the promised.
      if (!isLate && this.#engine.freeSlots() + this.promised > 0) this.#startOrReturn(lane, attempt);
      else if (isLate || this.#engine.isStopping()) {
        this.promised -= 1;
        this.#returnSuspect(lane, attempt);
      } else this.#next.push(suspect);
    }
  }

  #takeSuspects(lane: Lane, suspects: readonly Attempt[]): void {
    const chosen: Attempt[] = [];
    const room = this.#room();
    for (const attempt of suspects) {
      if (chosen.length < room && this.#mayRun(attempt) && this.#engine.takeStart()) {
        chosen.push(attempt);
        this.suspects += 1;
        if (attempt.lease.lostClaims >= ALONE_FROM_LOSSES) this.#aloneRunning += 1;
      } else {
        handBack(lane, attempt, this.#returnMs());
      }
    }
    if (chosen.length === 0) return;
    this.promised += chosen.length;
    this.#engine.schedule();
    void this.#startAfterNeighbours(lane, chosen);
  }

  #room(): number {
    const free = this.#engine.freeSlots();
    return free <= 0 && this.promised === 0 ? this.#engine.soonFree() : free;
  }

  #mayRun(attempt: Attempt): boolean {
    return attempt.lease.lostClaims < ALONE_FROM_LOSSES || this.#aloneRunning === 0;
  }

  async #startAfterNeighbours(lane: Lane, chosen: readonly Attempt[]): Promise<void> {
    const returns = this.#engine.lanes().map((each) => {
      const held = each.heldJobs.takeAll();
      for (const attempt of held) prepareHandBack(attempt, 0);
      // What is finished and not yet settled would be lost with the process too.
      return each.settleNow(held);
    });
    const areBack = (await Promise.all(returns)).every(Boolean);
    const until = performance.now() + (areBack ? SUSPECT_PATIENCE_MS : 0);
    for (const attempt of chosen) this.#next.push({ lane, attempt, until });
    this.#engine.schedule();
    lane.pump();
  }

  #startOrReturn(lane: Lane, attempt: Attempt): void {
    this.promised -= 1;
    const may = !this.#engine.isStopping() && !lane.isPaused;
    if (attempt.state === 'held' && may) return this.#engine.start(lane, attempt);
    this.#returnSuspect(lane, attempt);
  }

  #returnSuspect(lane: Lane, attempt: Attempt): void {
    this.suspectEnded(attempt);
    if (attempt.state === 'held') handBack(lane, attempt, this.#returnMs());
  }

  #returnMs(): number {
    return this.#returns.delayMs(performance.now(), this.#engine.random());
  }
}

function settleUnstarted(
  lane: Lane,
  attempt: Attempt,
  admission: Exclude<Admission, { verdict: 'start' }>,
): void {
  const { lease } = attempt;
  if (admission.verdict === 'bury') {
    attempt.error = admission.error;
    attempt.outcome = 'dead';
    attempt.settlement = { kind: 'bury', lease, error: admission.error };
  } else {
    attempt.outcome = 'released';
    attempt.settlement = { kind: 'release', lease, delayMs: admission.delayMs, reason: admission.reason };
    attempt.error = admission.reason === 'unknown-type' ? unknownType(lease) : null;
  }
  lane.finish(attempt, performance.now());
}

function unknownType(lease: Lease): Attempt['error'] {
  return {
    code: 'UNKNOWN_TYPE',
    name: 'SuretyError',
    message: `no handler for ${lease.type} in this worker`,
    stack: null,
    attempt: lease.attempt,
  };
}

function handBack(lane: Lane, attempt: Attempt, delayMs: number): void {
  prepareHandBack(attempt, delayMs);
  lane.finish(attempt, performance.now());
}

function prepareHandBack(attempt: Attempt, delayMs: number): void {
  attempt.outcome = 'released';
  attempt.settlement = {
    kind: 'release',
    lease: attempt.lease,
    delayMs: Math.round(delayMs),
    reason: 'unstarted',
  };
  attempt.state = 'ended';
  attempt.endedAt = performance.now();
}
