import type { Claim, ClaimRequest, Settlement, SettleOutcome } from '../contract/index.ts';
import { PauseAfterFailure } from '../retry/pause-after-failure.ts';
import { Alarm } from './alarm.ts';
import type { Attempt } from './attempt.ts';
import { checkedClaim, checkedOutcomes } from './checked-answer.ts';
import type { Ask } from './claim-demand.ts';
import { ClaimReplay, type ClaimTicket } from './claim-replay.ts';
import { FinishedJobs } from './finished-jobs.ts';
import { HeldJobs } from './held-jobs.ts';
import type { LaneEngine } from './lane-engine.ts';
import { type Claimer, QUIET_POLL_MS, type TurnTaker } from './turns.ts';

/** The oldest finished job is settled after this time at the latest: batches fill at speed, and a lone job does not wait. */
const FLUSH_AFTER_MS = 5;
/** How often a paused queue is asked whether it still is. */
const PAUSED_POLL_MS = 1000;
/** A waiting claim that comes back empty sooner than this did not wait; ask again only after it, so that it cannot spin. */
const SHORTEST_WAIT_MS = 50;

/**
 * One queue of a worker: what is held, what is finished and not yet settled, and the calls under way. At most one settling call and
 * one waiting claim at a time. A handler's end costs three cheap things: push, start the next, ask whether it is time to send.
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
  #sending = false;
  #onWire = 0;
  #waiting: AbortController | null = null;
  /** What the claim under way may still bring. */
  #asked = 0;
  /** After a failure: no call at all. */
  #restUntil = 0;
  /** While paused, or after a claim that did not wait: settling goes on. */
  #noClaimUntil = 0;
  #isPaused = false;
  #settleFails = false;
  #closed = false;
  readonly #alarm: Alarm = new Alarm(() => this.pump());
  readonly #pause = new PauseAfterFailure();
  readonly #replay: ClaimReplay;
  readonly #engine: LaneEngine<Lane>;

  constructor(queue: string, weight: number, engine: LaneEngine<Lane>) {
    this.queue = queue;
    this.weight = weight;
    this.#engine = engine;
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
    return this.#pause.failures > 0;
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
    const ask = this.#engine.ask(this);
    if (!this.#sending && this.#finished.size > 0) {
      if (this.#settleDue(now)) {
        const { maxItems } = this.#engine.capabilities.batch;
        const batch = this.#finished.take(maxItems, (attempt) => this.#isSendable(attempt, now));
        if (batch.length > 0) return void this.#send(batch, this.#waiting === null ? ask.max : 0, now);
      } else this.#alarm.setFor((this.#finished.oldestEndedAt ?? now) + FLUSH_AFTER_MS);
    }
    if (ask.max === 0 || this.#waiting !== null || this.#sending || this.held > 0) return;
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

  /** Settles apart from the batches what must be settled before the caller goes on; false: not all is confirmed, and the lane sees to the rest. */
  async settleNow(attempts: readonly Attempt[]): Promise<boolean> {
    const renewals = attempts.map(({ group }) => group.renewing).filter((renewal) => renewal !== null);
    // Counted as on the wire while it waits, so that a stop waits for it too.
    this.#onWire += attempts.length;
    await Promise.all(renewals);
    this.#onWire -= attempts.length;
    const now = performance.now();
    const due = attempts.filter((attempt) => this.#isSendable(attempt, now));
    const size = this.#engine.capabilities.batch.maxItems;
    for (let at = 0; at < due.length; at += size) await this.#settle(due.slice(at, at + size));
    return attempts.every(({ state }) => state === 'gone');
  }

  #settleDue(now: number): boolean {
    const count = this.#finished.size;
    if (this.#engine.settleAtOnce || this.#engine.isStopping()) return true;
    if (this.held === 0 && this.running === 0) return true;
    if (count >= this.#engine.target() / 4) return true;
    return now - (this.#finished.oldestEndedAt ?? now) >= FLUSH_AFTER_MS;
  }

  async #send(batch: readonly Attempt[], ask: number, now: number): Promise<void> {
    this.#sending = true;
    const both = ask > 0 && !this.#replay.isPending && now >= this.#noClaimUntil;
    if (both && this.#engine.calls.settleAndClaim !== undefined) await this.#settleAndClaim(batch, ask, now);
    else await this.#settle(batch);
    this.#sending = false;
    this.#engine.callEnded(this);
  }

  #isSendable(attempt: Attempt, now: number): boolean {
    if (attempt.state === 'gone') return false;
    if (!attempt.group.isOver(now)) return true;
    this.#engine.tooLate(attempt);
    return false;
  }

  async #settleAndClaim(batch: readonly Attempt[], ask: number, now: number): Promise<void> {
    const ticket = this.#replay.ticket(now);
    this.#asked = ask;
    this.askedAt = now;
    const sent = this.#sent(batch);
    try {
      const both = await this.#engine.calls.settleAndClaim?.(sent, this.#request(ask, 0, null, ticket));
      const outcomes = checkedOutcomes(both?.outcomes ?? []);
      const claim = checkedClaim(both?.claim as Claim);
      this.#confirm(batch, outcomes);
      this.#claimed(this.#replay.answered(ticket, claim));
    } catch (error) {
      this.#asked = 0;
      this.#replay.failed(ticket, performance.now());
      this.#failedSettle(batch, error);
    }
  }

  async #settle(batch: readonly Attempt[]): Promise<void> {
    const { calls, timeoutMs } = this.#engine;
    try {
      this.#confirm(batch, checkedOutcomes(await calls.settle(this.#sent(batch), { timeoutMs })));
    } catch (error) {
      this.#failedSettle(batch, error);
    }
  }

  #sent(batch: readonly Attempt[]): Settlement[] {
    this.#onWire += batch.length;
    for (const attempt of batch) attempt.inFlight = true;
    return batch.map(({ settlement }) => settlement).filter((settlement) => settlement !== null);
  }

  #confirm(batch: readonly Attempt[], outcomes: readonly SettleOutcome[]): void {
    let unknown: unknown = null;
    this.#onWire -= batch.length;
    for (const [index, attempt] of batch.entries()) {
      const outcome = outcomes[index];
      attempt.inFlight = false;
      if (outcome?.status === 'settled' || outcome?.status === 'lease-lost') {
        this.#engine.confirmed(attempt, outcome.status);
        continue;
      }
      unknown = outcome?.error ?? new Error('no outcome');
      this.#again(attempt);
    }
    this.#settleFails = unknown !== null;
    if (unknown !== null) return this.#failed('settle', unknown);
    this.#pause.succeeded();
    this.#engine.succeeded('settle');
  }

  #failedSettle(batch: readonly Attempt[], error: unknown): void {
    this.#onWire -= batch.length;
    for (const attempt of batch) {
      attempt.inFlight = false;
      this.#again(attempt);
    }
    this.#settleFails = true;
    this.#failed('settle', error);
  }

  /** May have been settled: sent again, and a lease-lost then means unknown. */
  #again(attempt: Attempt): void {
    attempt.uncertain = true;
    this.#finished.add(attempt);
  }

  async #wait({ max, waitMs }: Ask, now: number): Promise<void> {
    const stop = new AbortController();
    const ticket = this.#replay.ticket(now);
    // After a failure the first answer is wanted at once: it tells that the store is back.
    const asks = ticket.isReplay || this.isFailing;
    const wait = asks ? 0 : waitMs;
    const wasQuiet = this.isQuiet;
    this.#waiting = stop;
    this.#asked = max;
    this.askedAt = now;
    try {
      const claim = checkedClaim(
        await this.#engine.calls.claim(this.#request(max, wait, stop.signal, ticket)),
      );
      this.#waiting = null;
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
    const { leaseMs, timeoutMs, capabilities } = this.#engine;
    const max = Math.min(ask, capabilities.batch.maxItems);
    return { queue: this.queue, max, leaseMs, waitMs, nonce, signal, timeoutMs };
  }

  #claimed(claim: Claim): void {
    this.#asked = 0;
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
    if (this.#settleFails && this.unconfirmed > 0) return;
    if (this.#settleFails) this.#engine.succeeded('settle');
    this.#settleFails = false;
    this.#pause.succeeded();
  }

  #failed(what: 'claim' | 'settle', error: unknown): void {
    this.#restUntil = performance.now() + this.#pause.failed();
    this.#alarm.setFor(this.#restUntil);
    this.#engine.failed(what, error);
  }
}
