import type { Claim } from '../contract/index.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { WorkerEvents } from '../events/worker-events.ts';
import { guardedCalls } from '../startup/guarded-calls.ts';
import type { Attempt } from './attempt.ts';
import { claimDemand } from './claim-demand.ts';
import { ClaimSize } from './claim-size.ts';
import type { ContextServices } from './context.ts';
import { decideEnding, failTimeout, type HandlerEnd, release } from './ending.ts';
import { Intake } from './intake.ts';
import { Lane } from './lane.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { RateGate } from './rate-gate.ts';
import type { Reporter } from './reporter.ts';
import { runHandler } from './run-handler.ts';
import { RunningAttempts } from './running-attempts.ts';
import { nextInTurn } from './turns.ts';
import type { WorkerSettings } from './worker-options.ts';

/** A tick this late says that the event loop did not run. */
const BLOCKED_MS = 500;
const LONG_WAIT_MS = 10_000;
/** Where slots are reserved per waiting claim and queues outnumber slots, they take turns in waiting. */
const SHARED_WAIT_MS = 1000;

/** The running part of a worker: slots, lanes, leases, time limits. Made at start, thrown away after stop. */
export class Engine {
  readonly lanes: readonly Lane[];
  readonly keeper: LeaseKeeper;
  readonly reporter: Reporter;
  readonly #settings: WorkerSettings;
  readonly #services: ContextServices;
  readonly #size: ClaimSize;
  readonly #gate: RateGate | null;
  readonly #intake: Intake;
  readonly #running: RunningAttempts;
  readonly #tickMs: number;
  #stopping = false;
  #tickTimer: NodeJS.Timeout | null = null;
  #rateTimer: NodeJS.Timeout | null = null;
  #lastTickAt = 0;
  lastClaimOkAt: number | null = null;
  /** Attempts whose end the store has confirmed, and releases among them. */
  confirmed = { finished: 0, released: 0 };

  constructor(
    settings: WorkerSettings,
    bus: EventBus<WorkerEvents>,
    reporter: Reporter,
    services: ContextServices,
  ) {
    const { backend, concurrency, leaseMs, timeoutMs } = settings;
    const { capabilities } = backend;
    const calls = guardedCalls(backend);
    this.#settings = settings;
    this.reporter = reporter;
    this.#services = services;
    this.#size = new ClaimSize(concurrency, settings.claimAhead);
    this.#gate = settings.perSecond === null ? null : new RateGate(settings.perSecond, performance.now());
    this.#running = new RunningAttempts(settings.graceMs, settings.zombieMs, {
      graceOver: (attempt, lane) => this.#graceOver(attempt, lane),
      givenUp: (attempt, lane) => this.#slotFreed(attempt, lane, 'given-up'),
    });
    this.#tickMs = Math.min(100, Math.max(10, leaseMs / 20));
    this.keeper = new LeaseKeeper(calls, capabilities, leaseMs, timeoutMs, {
      lost: (attempt, reason) => this.#lost(attempt, reason),
      renewed: () => this.#pumpAll(),
      failed: (error) => reporter.trouble('renew', error),
      recovered: () => reporter.recovered('renew'),
    });
    this.#intake = new Intake({
      keeper: this.keeper,
      handlers: settings.handlers,
      lanes: () => this.lanes,
      random: Math.random,
      isStopping: () => this.#stopping,
      freeSlots: () => concurrency - this.#running.slots - this.#intake.promised,
      start: (lane, attempt) => this.#start(lane, attempt, performance.now()),
      schedule: () => this.#schedule(),
    });
    this.lanes = settings.queues.map(
      (queue) =>
        new Lane(queue, settings.weights[queue] ?? 1, {
          capabilities,
          calls,
          leaseMs,
          timeoutMs,
          strict: !settings.claimAhead,
          target: () => this.#size.target(),
          ask: (lane) => this.#ask(lane),
          waitMs: settings.claimAhead || settings.queues.length === 1 ? LONG_WAIT_MS : SHARED_WAIT_MS,
          isStopping: () => this.#stopping,
          received: (lane, claim) => this.#received(lane, claim),
          confirmed: (attempt, status) => this.#confirmed(attempt, status),
          paused: (lane, paused) => {
            if (paused) this.#intake.releaseHeld(lane);
            bus.emit(paused ? 'paused' : 'resumed', { queue });
          },
          failed: (what, error) => reporter.trouble(`${what} on queue ${queue}`, error),
          succeeded: (what) => {
            if (what === 'claim') this.lastClaimOkAt = performance.now();
            reporter.recovered(`${what} on queue ${queue}`);
          },
        }),
    );
  }

  get running(): number {
    return this.#running.slots;
  }
  /** Attempts whose end is still open; zombies are settled and do not count. */
  get active(): number {
    return this.#running.active + this.#intake.promised;
  }
  get unsettled(): number {
    return this.lanes.reduce((sum, lane) => sum + lane.unsettled, 0);
  }
  get isFailing(): boolean {
    return this.lanes.some((lane) => lane.isFailing);
  }

  begin(): void {
    this.#lastTickAt = performance.now();
    this.#tickTimer = setInterval(() => this.#tick(), this.#tickMs);
    this.#pumpAll();
  }

  /** Takes no more jobs and hands back what is held unstarted. Running handlers go on. */
  stopClaiming(): void {
    this.#stopping = true;
    for (const lane of this.lanes) {
      lane.abortWait();
      this.#intake.releaseHeld(lane);
      lane.pump();
    }
  }

  abortRunning(): void {
    for (const [attempt] of this.#running.entries()) attempt.abort('shutdown', 'the worker is stopping');
  }

  /** Hands back what still runs; its handlers go on as zombies until they end or the process does. */
  releaseRunning(): void {
    for (const [attempt, lane] of this.#running.entries()) {
      release(attempt);
      this.#endAsZombie(attempt, lane);
    }
    this.#pumpAll();
  }

  /** Ends timers and lanes; the answer is the number of attempts whose settlement was never confirmed. */
  end(): number {
    if (this.#tickTimer !== null) clearInterval(this.#tickTimer);
    if (this.#rateTimer !== null) clearTimeout(this.#rateTimer);
    for (const lane of this.lanes) lane.close();
    return this.lanes.reduce((sum, lane) => sum + lane.unconfirmed, 0);
  }

  #pumpAll(): void {
    for (const lane of this.lanes) lane.pump();
  }

  #ask(lane: Lane): number {
    const now = performance.now();
    if (this.#stopping || this.keeper.isBlocked(now)) return 0;
    const { concurrency, claimAhead } = this.#settings;
    return claimDemand(lane, this.lanes, {
      busy: this.#running.slots + this.#intake.promised,
      target: this.#intake.suspects > 0 ? concurrency : this.#size.target(),
      reserve: !claimAhead,
      // The tokens of the next tick: more would only be held.
      startable: this.#gate === null ? null : this.#gate.possible(now, this.#tickMs),
    });
  }

  #received(lane: Lane, claim: Claim): void {
    this.#intake.receive(lane, claim);
    this.#schedule();
    lane.pump();
  }

  #schedule(): void {
    const { concurrency } = this.#settings;
    while (!this.#stopping && this.#running.slots + this.#intake.promised < concurrency) {
      const lane = nextInTurn(this.lanes);
      if (lane === null) return;
      const now = performance.now();
      if (this.#gate !== null && !this.#gate.take(now)) return this.#scheduleLater(this.#gate.waitMs(now));
      const attempt = lane.takeHeld();
      if (attempt !== null && attempt.state === 'held') this.#start(lane, attempt, now);
    }
  }

  #scheduleLater(ms: number): void {
    this.#rateTimer ??= setTimeout(
      () => {
        this.#rateTimer = null;
        this.#schedule();
        this.#pumpAll();
      },
      Math.max(1, ms),
    );
  }

  #start(lane: Lane, attempt: Attempt, now: number): void {
    const { handler } = attempt;
    // A job whose lease is over by our clock may be somebody else's already.
    if (attempt.group.isOver(now) || handler === null) return this.#dropUnstarted(attempt);
    attempt.state = 'running';
    attempt.startedAt = now;
    this.#running.enter(attempt, lane, handler.definition.timeoutMs, now);
    this.reporter.started(attempt);
    runHandler(attempt, this.#services).then(
      (end) => this.#handlerEnded(lane, attempt, end),
      (threw: unknown) => this.#handlerEnded(lane, attempt, { threw }),
    );
  }

  #dropUnstarted(attempt: Attempt): void {
    this.keeper.remove(attempt);
    this.#lost(attempt, 'its time was over before it could start');
    if (attempt.isSuspect) this.#intake.suspectEnded(attempt);
  }

  #handlerEnded(lane: Lane, attempt: Attempt, end: HandlerEnd): void {
    const now = performance.now();
    if (attempt.isZombie) {
      if (this.#running.zombieReturned(attempt) !== null) this.#slotFreed(attempt, lane, 'ended');
      return;
    }
    this.#size.saw(now - attempt.startedAt);
    decideEnding(attempt, end, Math.random);
    this.#running.leave(attempt);
    if (attempt.isSuspect) this.#intake.suspectEnded(attempt);
    lane.finish(attempt, now);
    this.#schedule();
    lane.pump();
  }

  #endAsZombie(attempt: Attempt, lane: Lane): void {
    const now = performance.now();
    this.#running.becomeZombie(attempt, now);
    lane.finish(attempt, now);
    this.reporter.zombie(attempt, 'running');
  }

  #slotFreed(attempt: Attempt, lane: Lane, how: 'ended' | 'given-up'): void {
    if (attempt.isSuspect) this.#intake.suspectEnded(attempt);
    this.reporter.zombie(attempt, how);
    this.#schedule();
    lane.pump();
  }

  /** The lease is over: nothing of this attempt may reach the store any more. */
  #lost(attempt: Attempt, reason: string): void {
    const { state } = attempt;
    if (state === 'gone') return;
    this.reporter.leaseLost(attempt, reason);
    if (state === 'running') {
      this.#running.becomeZombie(attempt, performance.now());
      attempt.abort('lease-lost', `the lease was lost: ${reason}`);
    }
    attempt.state = 'gone';
    this.reporter.ended(attempt, attempt.uncertain ? 'unknown' : 'lease-lost');
  }

  #confirmed(attempt: Attempt, status: 'settled' | 'lease-lost'): void {
    if (attempt.state === 'gone') return;
    this.keeper.remove(attempt);
    attempt.state = 'gone';
    if (status === 'settled') {
      if (attempt.outcome === 'released') this.confirmed.released += 1;
      else this.confirmed.finished += 1;
      return this.reporter.ended(attempt, attempt.outcome);
    }
    if (!attempt.uncertain) this.reporter.leaseLost(attempt, 'the store refused to settle it');
    this.reporter.ended(attempt, attempt.uncertain ? 'unknown' : 'lease-lost');
  }

  #tick(): void {
    const now = performance.now();
    const lateMs = now - this.#lastTickAt - this.#tickMs;
    this.#lastTickAt = now;
    this.reporter.blockedMs = lateMs > BLOCKED_MS ? lateMs : 0;
    this.keeper.tick(now);
    this.#running.tick(now);
    if (this.#gate === null) this.#size.sawSlow(this.#intake.returnHeldTooLong(now));
    this.#schedule();
    this.#pumpAll();
  }

  #graceOver(attempt: Attempt, lane: Lane): void {
    failTimeout(attempt, Math.random);
    this.#endAsZombie(attempt, lane);
  }
}
