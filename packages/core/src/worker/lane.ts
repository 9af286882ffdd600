import type { Claim, ClaimRequest, Settlement, SettleOutcome } from '../contract/index.ts';
import { Alarm } from './alarm.ts';
import type { Attempt } from './attempt.ts';
import { CallPause } from './call-pause.ts';
import { checkedClaim, checkedOutcomes } from './checked-answer.ts';
import type { Ask } from './claim-demand.ts';
import { ClaimReplay, type ClaimTicket } from './claim-replay.ts';
import { FinishedJobs } from './finished-jobs.ts';
import { HeldJobs } from './held-jobs.ts';
import type { LaneEngine } from './lane-engine.ts';
import { settleAt } from './settle-timing.ts';
import { type Claimer, QUIET_POLL_MS, type TurnTaker } from './turns.ts';

/** How often a paused queue is asked whether it still is. */
const PAUSED_POLL_MS = 1000;
/** A waiting claim that comes back empty sooner than this did not wait; ask again only after it, so that it cannot spin. */
const SHORTEST_WAIT_MS = 50;

/**
 * One queue of a worker: what is held, what is finished and not yet settled, and the calls under way: one claim, few that settle.
 * A handler's end costs three cheap things: push, start the next, ask whether it is time to send.
 */
export class Lane implements TurnTaker, Claimer {
  readonly queue: string;
  readonly weight: number;
  readonly heldJobs: HeldJobs = new HeldJobs();
  credit = 0;
  running = 0;
  served = 0;
  isQuiet = false;
  askedAt: number = Number.NEGATIVE_INFINITY;
  readonly #finished = new FinishedJobs();
  #sending = 0;
  #sent: Promise<void> = Promise.resolve();
  #onWire = 0;
  #waiting: AbortController | null = null;
  #asked = 0;
  /** After a failure: no call at all. */
  #restUntil = 0;
  /** While paused, or after a claim that did not wait: settling goes on. */
  #noClaimUntil = 0;
  #isPaused = false;
  #closed = false;
  readonly #alarm: Alarm = new Alarm(() => this.pump());
  readonly #pause = new CallPause();
  readonly #replay: ClaimReplay;
  readonly #engine: LaneEngine<Lane>;
  readonly #mostItems: number;

  constructor(queue: string, weight: number, engine: LaneEngine<Lane>) {
    this.queue = queue;
    this.weight = weight;
    this.#engine = engine;
    this.#mostItems = engine.capabilities.batch.maxItems;
    this.#replay = new ClaimReplay(engine.capabilities.claimReplay, engine.leaseMs);
  }

  get held(): number {
    return this.heldJobs.size;
  }
  /** Settlements that wait or are on the wire, and a claim under way, which may still bring jobs. */
  get unsettled(): number {
    return this.unconfirmed + (this.#asked > 0 ? 1 : 0);
  }
  /** Finished, and not confirmed by the store. */
  get unconfirmed(): number {
    return this.#finished.open + this.#onWire;
  }
  get reserved(): number {
    return this.#asked;
  }
  get isPaused(): boolean {
    return this.#isPaused;
  }
  get isFailing(): boolean {
    return this.#pause.isFailing;
  }

  /** Its settlement is decided and goes out with the next batch. */
  finish(attempt: Attempt, now: number): void {
    attempt.state = 'ended';
    attempt.endedAt = now;
    this.#finished.add(attempt);
  }

  /** The one decision: settle, claim, both, wait, or nothing. Called after whatever may change the answer. */
  pump(): void {
    if (this.#closed) return;
    const now = performance.now();
    if (now < this.#restUntil) return this.#alarm.setFor(this.#restUntil);
    const dueAt = settleAt({
      finished: this.#finished.size,
      oldestAt: this.#finished.oldestEndedAt ?? now,
      open: this.held + this.running,
      target: this.#engine.target(),
      calls: this.#sending,
      atOnce: this.#engine.settleAtOnce() || this.#engine.isStopping(),
    });
    if (dueAt !== null && dueAt <= now) {
      const batch = this.#finished.take(this.#mostItems, (attempt) => this.#isSendable(attempt, now));
      if (batch.length > 0) return this.#send(batch, now);
    } else if (dueAt !== null) this.#alarm.setFor(dueAt);
    if (this.#waiting !== null || this.#asked > 0) return;
    const ask = this.#engine.ask(this, now);
    // What is finished goes out soon; one call then carries both halves.
    const joins = this.#finished.size > 0 && this.#engine.calls.settleAndClaim !== undefined;
    if (ask.max === 0 || (!ask.beside && (joins || this.#sending > 0 || this.held > 0))) return;
    if (now < this.#noClaimUntil) this.#alarm.setFor(this.#noClaimUntil);
    else void this.#wait(ask, now);
  }

  /** Ends a waiting claim; what it holds is handed back by the engine. */
  abortWait(): void {
    this.#waiting?.abort();
  }

  /** Calls again at once, also after a failure: a stop has no time for a rest. */
  stopResting(): void {
    this.#restUntil = 0;
  }

  close(): void {
    this.#closed = true;
    this.abortWait();
    this.#alarm.close();
  }

  /** Settles these and all that is finished, at once; false: not all is confirmed, and the lane sees to the rest. */
  async settleNow(attempts: readonly Attempt[]): Promise<boolean> {
    // Counted as on the wire while they wait, so that a stop waits for them too.
    this.#onWire += attempts.length;
    await this.#sent;
    this.#onWire -= attempts.length;
    const all = [...attempts, ...this.#finished.takeAll()];
    this.#onWire += all.length;
    await Promise.all(all.flatMap(({ group }) => group.renewing ?? []));
    this.#onWire -= all.length;
    const now = performance.now();
    const due = all.filter((attempt) => this.#isSendable(attempt, now));
    for (let at = 0; at < due.length; at += this.#mostItems)
      await this.#settle(due.slice(at, at + this.#mostItems));
    return all.every(({ state }) => state === 'gone');
  }

  #send(batch: readonly Attempt[], now: number): void {
    const ask = this.#waiting === null ? this.#engine.ask(this, now).max : 0;
    this.#sending += 1;
    if (this.held > 0) this.#engine.callSent();
    const mayClaim = ask > 0 && !this.#replay.isPending && now >= this.#noClaimUntil;
    const both = mayClaim && this.#engine.calls.settleAndClaim !== undefined;
    const call = both ? this.#settleAndClaim(batch, ask, now) : this.#settle(batch);
    const ended = call.then(() => {
      this.#sending -= 1;
      this.#engine.callEnded(this);
    });
    // Of no value: one that held what the calls before it gave would grow for ever.
    this.#sent = this.#sent.then(() => ended);
  }

  #isSendable(attempt: Attempt, now: number): boolean {
    if (attempt.state === 'gone') return false;
    if (!attempt.group.isOver(now)) return true;
    this.#engine.tooLate(attempt);
    return false;
  }

  async #settleAndClaim(batch: readonly Attempt[], ask: number, now: number): Promise<void> {
    const ticket = this.#replay.ticket(now);
    this.#asked += ask;
    this.askedAt = now;
    const settlements = this.#outgoing(batch);
    try {
      const both = await this.#engine.calls.settleAndClaim?.(
        settlements,
        this.#request(ask, 0, null, ticket),
      );
      const outcomes = checkedOutcomes(both?.outcomes ?? []);
      const claim = checkedClaim(both?.claim as Claim);
      this.#confirm(batch, outcomes);
      this.#asked -= ask;
      this.#claimed(this.#replay.answered(ticket, claim));
    } catch (error) {
      this.#asked -= ask;
      this.#replay.failed(ticket, performance.now());
      this.#confirm(batch, [], error);
    }
  }

  async #settle(batch: readonly Attempt[]): Promise<void> {
    const { calls, timeoutMs } = this.#engine;
    try {
      this.#confirm(batch, checkedOutcomes(await calls.settle(this.#outgoing(batch), { timeoutMs })));
    } catch (error) {
      this.#confirm(batch, [], error);
    }
  }

  #outgoing(batch: readonly Attempt[]): Settlement[] {
    this.#onWire += batch.length;
    for (const attempt of batch) attempt.inFlight = true;
    return batch.map(({ settlement }) => settlement).filter((settlement) => settlement !== null);
  }

  /** An attempt without an outcome may have been settled; `fault` says why there is none. */
  #confirm(batch: readonly Attempt[], outcomes: readonly SettleOutcome[], fault?: unknown): void {
    let lost: { readonly error: unknown } | null = null;
    this.#onWire -= batch.length;
    for (let index = 0; index < batch.length; index += 1) {
      const attempt = batch[index] as Attempt;
      const outcome = outcomes[index];
      attempt.inFlight = false;
      if (outcome?.status === 'settled' || outcome?.status === 'lease-lost') {
        this.#engine.confirmed(attempt, outcome.status);
        continue;
      }
      lost = { error: outcome?.error ?? fault };
      // May have been settled: sent again, and a lease-lost then means unknown.
      attempt.uncertain = true;
      this.#finished.add(attempt);
    }
    if (lost !== null) return this.#failed('settle', lost.error);
    this.#pause.succeeded('settle');
    this.#engine.succeeded('settle');
  }

  async #wait({ max, waitMs }: Ask, now: number): Promise<void> {
    const stop = new AbortController();
    const ticket = this.#replay.ticket(now);
    // After a failure the first answer is wanted at once: it tells that the store is back.
    const asks = ticket.isReplay || this.#pause.fails('claim');
    const wait = asks ? 0 : waitMs;
    const wasQuiet = this.isQuiet;
    this.#waiting = stop;
    this.#asked = max;
    this.askedAt = now;
    try {
      const answer = await this.#engine.calls.claim(this.#request(max, wait, stop.signal, ticket));
      const claim = checkedClaim(answer);
      this.#waiting = null;
      this.#asked = 0;
      if (claim.leases.length === 0 && !asks) {
        if (wait > 0) this.#noClaimUntil = now + SHORTEST_WAIT_MS;
        else if (wasQuiet) this.#noClaimUntil = now + QUIET_POLL_MS;
      }
      this.#claimed(this.#replay.answered(ticket, claim));
    } catch (error) {
      this.#waiting = null;
      this.#asked = 0;
      this.#replay.failed(ticket, performance.now());
      this.#failed('claim', error);
    }
    this.#engine.callEnded(this);
  }

  #request(ask: number, waitMs: number, signal: AbortSignal | null, { nonce }: ClaimTicket): ClaimRequest {
    const { leaseMs, timeoutMs } = this.#engine;
    const max = Math.min(ask, this.#mostItems);
    return { queue: this.queue, max, leaseMs, waitMs, nonce, signal, timeoutMs };
  }

  #claimed(claim: Claim): void {
    if (claim.leases.length === 0) this.isQuiet = true;
    else if (!this.#received(claim)) return;
    this.#claimSucceeded();
    if (claim.paused !== this.#isPaused) {
      this.#isPaused = claim.paused;
      this.#engine.paused(this, claim.paused);
    }
    if (claim.paused) this.#noClaimUntil = performance.now() + PAUSED_POLL_MS;
  }

  #received(claim: Claim): boolean {
    this.#noClaimUntil = 0;
    try {
      this.#engine.received(this, claim);
      return true;
    } catch (error) {
      // A lease that is none. Asking again for the same claim would bring it again.
      this.#failed('claim', error);
      return false;
    }
  }

  /** A settle that failed is over only when one succeeds, or when its leases have ended and there is none to send. */
  #claimSucceeded(): void {
    this.#engine.succeeded('claim');
    this.#pause.succeeded('claim');
    if (!this.#pause.fails('settle') || this.unconfirmed > 0) return;
    this.#pause.succeeded('settle');
    this.#engine.succeeded('settle');
  }

  #failed(what: 'claim' | 'settle', error: unknown): void {
    this.#restUntil = performance.now() + this.#pause.failed(what);
    this.#alarm.setFor(this.#restUntil);
    this.#engine.failed(what, error);
  }
}
