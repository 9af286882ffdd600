import type { Claim } from '../contract/index.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { WorkerEvents } from '../events/worker-events.ts';
import type { GuardedCalls } from '../startup/guarded-calls.ts';
import { Alarm } from './alarm.ts';
import type { Attempt } from './attempt.ts';
import { Breather } from './breather.ts';
import { type Ask, claimDemand, NO_ASK } from './claim-demand.ts';
import { ClaimSize } from './claim-size.ts';
import type { ContextServices } from './context.ts';
import { decideEnding, failTimeout, type HandlerEnd, release } from './ending.ts';
import { Fates } from './fates.ts';
import { Intake } from './intake.ts';
import { Lane } from './lane.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { LoopWatch } from './loop-watch.ts';
import { RateGate } from './rate-gate.ts';
import type { Reporter } from './reporter.ts';
import { runHandler } from './run-handler.ts';
import { RunningAttempts } from './running-attempts.ts';
import { claimOrder, joinTurns, nextInTurn } from './turns.ts';
import type { WorkerSettings } from './worker-options.ts';

/** The running part of a worker: slots, lanes, leases, time limits. Made at start, thrown away after stop. */
export class Engine {
  readonly lanes: readonly Lane[];
  readonly keeper: LeaseKeeper;
  readonly reporter: Reporter;
  readonly fates: Fates;
  readonly #settings: WorkerSettings;
  readonly #services: ContextServices;
  readonly #size: ClaimSize;
  readonly #gate: RateGate | null;
  readonly #intake: Intake;
  readonly #running: RunningAttempts;
  readonly #rateAlarm: Alarm = new Alarm(() => {
    this.#schedule();
    this.#pumpAll();
  });
  readonly #breather: Breather = new Breather(() => this.#schedule());
  readonly #loop: LoopWatch;
  readonly #tickMs: number;
  #stopping = false;
  #tickTimer: NodeJS.Timeout | null = null;
  lastClaimOkAt: number | null = null;

  constructor(
    settings: WorkerSettings,
    calls: GuardedCalls,
    bus: EventBus<WorkerEvents>,
    reporter: Reporter,
    services: ContextServices,
  ) {
    const { concurrency, leaseMs, timeoutMs } = settings;
    const { capabilities } = settings.backend;
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
    this.#loop = new LoopWatch(this.#tickMs, performance.now());
    this.keeper = new LeaseKeeper(calls, capabilities, leaseMs, timeoutMs, {
      lost: (attempt, reason) => this.fates.lost(attempt, reason),
      renewed: () => this.#pumpAll(),
      failed: (error) => reporter.trouble('renew', error),
      recovered: () => reporter.recovered('renew'),
    });
    this.fates = new Fates(this.keeper, this.#running, this.#loop, reporter);
    this.#intake = new Intake({
      keeper: this.keeper,
      handlers: settings.handlers,
      lanes: () => this.lanes,
      random: Math.random,
      isStopping: () => this.#stopping,
      freeSlots: () => this.#freeSlots,
      soonFree: () => (this.#size.target() > concurrency ? concurrency : 0),
      takeStart: () => this.#gate?.take(performance.now()) ?? true,
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
          // Beside a suspect all that waits to be settled is at risk.
          settleAtOnce: () => !settings.claimAhead || this.#intake.suspects > 0,
          target: () => this.#size.target(),
          ask: (lane, now) => this.#ask(lane, now),
          isStopping: () => this.#stopping,
          received: (lane, claim) => this.#received(lane, claim),
          callSent: () => this.#breather.breathe(),
          callEnded: (lane) => this.#pump(lane),
          confirmed: (attempt, status) => this.fates.confirmed(attempt, status),
          tooLate: (attempt) => this.fates.lost(attempt, 'its time was over before it could be settled'),
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
  /** Zombies are settled and do not count. */
  get active(): number {
    return this.#running.active + this.#intake.promised;
  }
  get unsettled(): number {
    return this.lanes.reduce((sum, lane) => sum + lane.unsettled, 0);
  }
  get isFailing(): boolean {
    return this.lanes.some((lane) => lane.isFailing);
  }
  get #freeSlots(): number {
    return this.#settings.concurrency - this.#running.slots - this.#intake.promised;
  }

  begin(): void {
    this.#loop.tick(performance.now());
    this.#tickTimer = setInterval(() => this.#tick(), this.#tickMs);
    this.#pumpAll();
  }

  /** Takes no more jobs, hands back what is held. */
  stopClaiming(): void {
    this.#stopping = true;
    for (const lane of this.lanes) {
      lane.abortWait();
      this.#intake.releaseHeld(lane);
      lane.stopResting();
      lane.pump();
    }
  }

  abortRunning(): void {
    for (const [attempt] of this.#running.entries()) attempt.abort('shutdown', 'the worker is stopping');
  }

  /** Hands back what still runs; its handlers go on as zombies until they end or the process does. */
  releaseRunning(): void {
    for (const [attempt, lane] of this.#running.entries()) {
      if (attempt.abortReason?.kind === 'timeout') failTimeout(attempt, Math.random);
      else release(attempt);
      this.#endAsZombie(attempt, lane);
    }
    this.#pumpAll();
  }

  /** Ends timers and lanes; the answer is the number of attempts whose settlement was never confirmed. */
  end(): number {
    this.#stopping = true;
    if (this.#tickTimer !== null) clearInterval(this.#tickTimer);
    this.#rateAlarm.close();
    this.#breather.close();
    for (const lane of this.lanes) lane.close();
    return this.lanes.reduce((sum, lane) => sum + lane.unconfirmed, 0);
  }

  #pumpAll(): void {
    for (const lane of claimOrder(this.lanes, performance.now())) lane.pump();
  }

  /** One lane has something to do; where slots are shared it may be another's turn to use what became free. */
  #pump(lane: Lane): void {
    if (this.lanes.length === 1) lane.pump();
    else this.#pumpAll();
  }

  #ask(lane: Lane, now: number): Ask {
    if (this.#stopping || this.keeper.isBlocked(now)) return NO_ASK;
    const { concurrency, claimAhead } = this.#settings;
    return claimDemand(lane, this.lanes, {
      busy: this.#running.slots + this.#intake.promised,
      target: this.#intake.suspects > 0 ? concurrency : this.#size.target(),
      strict: !claimAhead || this.#gate !== null,
      // The tokens until the tick after its answer: more would only be held.
      startable: this.#gate === null ? null : this.#gate.possible(now, this.#tickMs),
    });
  }

  #received(lane: Lane, claim: Claim): void {
    if (lane.isQuiet) joinTurns(lane, this.lanes);
    lane.isQuiet = false;
    lane.served += claim.leases.length / lane.weight;
    if (this.#settings.claimAhead) this.#gate?.claimTook(performance.now() - claim.leasedAt);
    this.#intake.receive(lane, claim);
    this.#schedule();
  }

  #schedule(): void {
    this.#intake.startSuspects();
    while (!this.#stopping && !this.#breather.isBreathing && this.#freeSlots > 0) {
      const now = performance.now();
      const waitMs = this.#gate?.waitMs(now) ?? 0;
      // Looked at before the turn is taken: a turn that could not be used would be lost to its queue.
      if (waitMs > 0)
        return this.lanes.some(({ held }) => held > 0) ? this.#rateAlarm.setFor(now + waitMs) : undefined;
      const lane = nextInTurn(this.lanes);
      if (lane === null) break;
      const attempt = lane.heldJobs.take();
      if (attempt?.state !== 'held') continue;
      this.#gate?.take(now);
      this.#start(lane, attempt, now);
      this.#breather.started();
    }
    // Beside a suspect nothing is held; what may start after a breath has not had its chance yet, and would go to and fro for ever.
    const { suspects, promised } = this.#intake;
    if (suspects > promised && !this.#breather.isBreathing)
      for (const each of this.lanes) this.#intake.releaseHeld(each);
  }

  #start(lane: Lane, attempt: Attempt, now: number): void {
    const { handler } = attempt;
    // A job whose lease is over by our clock may be somebody else's already.
    if (attempt.group.isOver(now) || handler === null) return this.#dropUnstarted(attempt);
    attempt.state = 'running';
    attempt.startedAt = now;
    this.#running.enter(attempt, lane, handler.definition.timeoutMs, now);
    this.reporter.started(attempt);
    runHandler(attempt, this.#services, (end) => this.#handlerEnded(lane, attempt, end));
  }

  #dropUnstarted(attempt: Attempt): void {
    this.fates.lost(attempt, 'its time was over before it could start');
    if (attempt.isSuspect) this.#intake.suspectEnded(attempt);
  }

  #handlerEnded(lane: Lane, attempt: Attempt, end: HandlerEnd): void {
    const now = performance.now();
    if (attempt.isZombie) {
      if (this.#running.zombieReturned(attempt)) this.#slotFreed(attempt, lane, 'ended');
      return;
    }
    this.#size.saw(now - attempt.startedAt);
    this.#running.leave(attempt);
    if (attempt.isSuspect) this.#intake.suspectEnded(attempt);
    attempt.endedAt = now;
    // Told so by its signal, or blocked the event loop for so long that no timer could: either way somebody else may have the job.
    if (attempt.abortReason?.kind === 'lease-lost' || attempt.group.isOver(now)) {
      attempt.state = 'ended';
      this.fates.lost(attempt, 'its time was over before its handler ended');
    } else {
      decideEnding(attempt, end, Math.random);
      lane.finish(attempt, now);
    }
    this.#schedule();
    this.#pump(lane);
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
    this.#pump(lane);
  }

  #tick(): void {
    const now = performance.now();
    this.#loop.tick(now);
    this.keeper.tick(now);
    // A claim that waits could still bring what cannot be kept.
    if (this.keeper.isBlocked(now)) for (const lane of this.lanes) lane.abortWait();
    this.#running.tick(now);
    this.#size.sawSlow(this.#intake.returnHeldTooLong(now, this.#gate?.aheadMs ?? 0));
    this.#schedule();
    this.#pumpAll();
  }

  #graceOver(attempt: Attempt, lane: Lane): void {
    failTimeout(attempt, Math.random);
    this.#endAsZombie(attempt, lane);
  }
}
