import type { Claim, ClaimRequest, Settlement, SettleOutcome } from '../contract/index.ts';
import { PauseAfterFailure } from '../retry/pause-after-failure.ts';
import type { Attempt } from './attempt.ts';
import { ClaimReplay, type ClaimTicket } from './claim-replay.ts';
import type { LaneEngine } from './lane-engine.ts';
import type { TurnTaker } from './turns.ts';

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
export class Lane implements TurnTaker {
  readonly queue: string;
  readonly weight: number;
  credit = 0;
  running = 0;
  #held: Attempt[] = [];
  #head = 0;
  #finished: Attempt[] = [];
  #sending = false;
  #onWire = 0;
  #waiting: AbortController | null = null;
  #asked = 0;
  /** After a failure: no call at all. */
  #restUntil = 0;
  /** While paused, or after a claim that did not wait: settling goes on. */
  #noClaimUntil = 0;
  #timer: NodeJS.Timeout | null = null;
  #timerAt = Number.POSITIVE_INFINITY;
  #isPaused = false;
  #closed = false;
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
    return this.#held.length - this.#head;
  }
  /** Settlements that wait or are on the wire, and a waiting claim, which may still bring jobs. */
  get unsettled(): number {
    return this.#finished.length + (this.#sending ? 1 : 0) + (this.#waiting === null ? 0 : 1);
  }
  /** Jobs that an outstanding claim may still bring. */
  get reserved(): number {
    return this.#waiting === null ? 0 : this.#asked;
  }
  get isPaused(): boolean {
    return this.#isPaused;
  }
  get isFailing(): boolean {
    return this.#pause.failures > 0;
  }
  /** When the oldest held job was received; null: none is held. */
  get oldestHeldAt(): number | null {
    return this.#held[this.#head]?.heldAt ?? null;
  }

  hold(attempt: Attempt): void {
    this.#held.push(attempt);
  }

  takeHeld(): Attempt | null {
    const attempt = this.#held[this.#head];
    if (attempt === undefined) return null;
    this.#head += 1;
    if (this.#head === this.#held.length) {
      this.#held = [];
      this.#head = 0;
    }
    return attempt;
  }

  takeAllHeld(): Attempt[] {
    const all = this.#held.slice(this.#head);
    this.#held = [];
    this.#head = 0;
    return all;
  }

  /** Its settlement is decided and goes out with the next batch. */
  finish(attempt: Attempt, now: number): void {
    attempt.state = 'ended';
    attempt.endedAt = now;
    this.#finished.push(attempt);
  }

  /** The one decision: settle, claim, both, wait, or nothing. Called after whatever may change the answer. */
  pump(): void {
    if (this.#closed) return;
    const now = performance.now();
    if (now < this.#restUntil) return this.#wakeAt(this.#restUntil);
    const ask = this.#engine.ask(this);
    if (!this.#sending && this.#finished.length > 0) {
      if (this.#settleDue(now)) return void this.#send(this.#waiting === null ? ask : 0, now);
      this.#wakeAt((this.#finished[0]?.endedAt ?? now) + FLUSH_AFTER_MS);
    }
    if (ask === 0 || this.#waiting !== null || this.#sending || this.held > 0) return;
    if (now < this.#noClaimUntil) this.#wakeAt(this.#noClaimUntil);
    else void this.#wait(ask, now);
  }

  /** Ends a waiting claim; what it holds is handed back by the engine. */
  abortWait(): void {
    this.#waiting?.abort();
  }

  close(): void {
    this.#closed = true;
    this.abortWait();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Finished, and not confirmed by the store. */
  get unconfirmed(): number {
    return this.#finished.length + this.#onWire;
  }

  /** Settles what the caller wants settled before it goes on (neighbours of a suspect); failures leave them to the lane. */
  async settleNow(attempts: readonly Attempt[]): Promise<void> {
    for (const attempt of attempts) attempt.inFlight = true;
    await this.#settle(attempts);
  }

  #settleDue(now: number): boolean {
    const count = this.#finished.length;
    if (this.#engine.strict || this.#engine.isStopping()) return true;
    if (this.held === 0 && this.running === 0) return true;
    if (count >= this.#engine.target() / 4) return true;
    return now - (this.#finished[0]?.endedAt ?? now) >= FLUSH_AFTER_MS;
  }

  async #send(ask: number, now: number): Promise<void> {
    const batch = this.#takeFinished(now);
    if (batch.length === 0) return;
    this.#sending = true;
    this.#onWire = batch.length;
    const both = ask > 0 && !this.#replay.isPending && now >= this.#noClaimUntil;
    if (both && this.#engine.calls.settleAndClaim !== undefined) await this.#settleAndClaim(batch, ask, now);
    else await this.#settle(batch);
    this.#sending = false;
    this.#onWire = 0;
    this.pump();
  }

  /** What may be sent now: not past its lease, and no renewal of it under way (it could make a settled lease look alive). */
  #takeFinished(now: number): Attempt[] {
    const batch: Attempt[] = [];
    const later: Attempt[] = [];
    const limit = this.#engine.capabilities.batch.maxItems;
    for (const attempt of this.#finished) {
      if (attempt.state === 'gone') continue;
      if (attempt.group.isOver(now)) this.#engine.confirmed(attempt, 'lease-lost');
      else if (attempt.group.renewing !== null || batch.length === limit) later.push(attempt);
      else batch.push(attempt);
    }
    for (const attempt of batch) attempt.inFlight = true;
    this.#finished = later;
    return batch;
  }

  async #settleAndClaim(batch: readonly Attempt[], ask: number, now: number): Promise<void> {
    const ticket = this.#replay.ticket(now);
    try {
      const request = this.#request(ask, 0, null, ticket);
      const both = await this.#engine.calls.settleAndClaim?.(settlementsOf(batch), request);
      if (both === undefined) return;
      this.#confirm(batch, both.outcomes);
      this.#claimed(this.#replay.answered(ticket, both.claim));
    } catch (error) {
      this.#replay.failed(ticket, performance.now());
      this.#failedSettle(batch, error);
    }
  }

  async #settle(batch: readonly Attempt[]): Promise<void> {
    try {
      this.#confirm(
        batch,
        await this.#engine.calls.settle(settlementsOf(batch), { timeoutMs: this.#engine.timeoutMs }),
      );
    } catch (error) {
      this.#failedSettle(batch, error);
    }
  }

  #confirm(batch: readonly Attempt[], outcomes: readonly SettleOutcome[]): void {
    let unknown: unknown = null;
    for (const [index, attempt] of batch.entries()) {
      const outcome = outcomes[index];
      attempt.inFlight = false;
      if (outcome !== undefined && outcome.status !== 'unknown') {
        this.#engine.confirmed(attempt, outcome.status);
        continue;
      }
      unknown = outcome?.error ?? new Error('no outcome');
      this.#again(attempt);
    }
    if (unknown !== null) return this.#failed('settle', unknown);
    this.#pause.succeeded();
    this.#engine.succeeded('settle');
  }

  #failedSettle(batch: readonly Attempt[], error: unknown): void {
    for (const attempt of batch) {
      attempt.inFlight = false;
      this.#again(attempt);
    }
    this.#failed('settle', error);
  }

  /** May have been settled: sent again, and a lease-lost then means unknown. */
  #again(attempt: Attempt): void {
    attempt.uncertain = true;
    this.#finished.push(attempt);
  }

  async #wait(ask: number, now: number): Promise<void> {
    const stop = new AbortController();
    const ticket = this.#replay.ticket(now);
    const waitMs = ticket.isReplay ? 0 : this.#engine.waitMs;
    this.#waiting = stop;
    this.#asked = ask;
    try {
      const claim = await this.#engine.calls.claim(this.#request(ask, waitMs, stop.signal, ticket));
      this.#waiting = null;
      if (claim.leases.length === 0 && !claim.paused && waitMs > 0)
        this.#noClaimUntil = now + SHORTEST_WAIT_MS;
      this.#claimed(this.#replay.answered(ticket, claim));
    } catch (error) {
      this.#waiting = null;
      this.#replay.failed(ticket, performance.now());
      this.#failed('claim', error);
    }
    this.pump();
  }

  #request(ask: number, waitMs: number, signal: AbortSignal | null, { nonce }: ClaimTicket): ClaimRequest {
    const { leaseMs, timeoutMs, capabilities } = this.#engine;
    const max = Math.min(ask, capabilities.batch.maxItems);
    return { queue: this.queue, max, leaseMs, waitMs, nonce, signal, timeoutMs };
  }

  #claimed(claim: Claim): void {
    this.#pause.succeeded();
    this.#engine.succeeded('claim');
    if (claim.paused !== this.#isPaused) {
      this.#isPaused = claim.paused;
      this.#engine.paused(this, claim.paused);
    }
    if (claim.paused) this.#noClaimUntil = performance.now() + PAUSED_POLL_MS;
    if (claim.leases.length > 0) {
      this.#noClaimUntil = 0;
      this.#engine.received(this, claim);
    }
  }

  #failed(what: 'claim' | 'settle', error: unknown): void {
    this.#restUntil = performance.now() + this.#pause.failed();
    this.#wakeAt(this.#restUntil);
    this.#engine.failed(what, error);
  }

  /** One timer a lane, for the earliest of what is waited for. */
  #wakeAt(at: number): void {
    if (this.#closed || at >= this.#timerAt) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#timerAt = Number.POSITIVE_INFINITY;
        this.pump();
      },
      Math.max(1, Math.ceil(at - performance.now())),
    );
  }
}

function settlementsOf(batch: readonly Attempt[]): Settlement[] {
  return batch.map((attempt) => attempt.settlement).filter((settlement) => settlement !== null);
}
