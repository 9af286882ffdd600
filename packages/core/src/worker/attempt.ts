import type { JobError, Lease, Settlement } from '../contract/index.ts';
import type { Handler } from '../definition/handle.ts';
import type { AttemptOutcome } from '../events/worker-events.ts';
import type { LeaseGroup } from './lease-group.ts';
import { AbortReason } from './outcome.ts';
import type { Timed } from './timeout-lists.ts';

/** Where an attempt stands. `ended`: its settlement waits to be sent or confirmed. */
export type AttemptState = 'held' | 'running' | 'ended' | 'gone';

/** A claimed job on its way through the worker: held, running, ended, gone. */
export class Attempt implements Timed {
  readonly lease: Lease;
  readonly group: LeaseGroup;
  readonly handler: Handler | null;
  readonly heldAt: number;
  state: AttemptState = 'held';
  startedAt = 0;
  endedAt = 0;
  settlement: Settlement | null = null;
  outcome: AttemptOutcome = 'completed';
  error: JobError | null = null;
  /** Why the handler cancelled it. */
  reason: string | null = null;
  /** The answer of an earlier settle was lost: a later lease-lost is then reported as unknown. */
  uncertain = false;
  /** The abort was by timeout; the deadline of its grace, by `performance.now()`. */
  graceUntil = 0;
  /** The handler still runs although the attempt was settled. */
  isZombie = false;
  /** Its settlement is on the wire: a renewal must not judge it. */
  inFlight = false;
  /** Among the running; -1: it is not. */
  place = -1;
  timeoutAt = 0;
  timedPrevious: Timed | null = null;
  timedNext: Timed | null = null;
  #controller: AbortController | null = null;
  #reason: AbortReason | null = null;

  constructor(lease: Lease, group: LeaseGroup, handler: Handler | null, now: number) {
    this.lease = lease;
    this.group = group;
    this.handler = handler;
    this.heldAt = now;
  }

  get isSuspect(): boolean {
    return this.lease.lostClaims > 0;
  }

  get abortReason(): AbortReason | null {
    return this.#reason;
  }

  /** Made when first asked for: most short handlers never look. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** The first reason stands. */
  abort(kind: AbortReason['kind'], message: string): void {
    if (this.#reason !== null) return;
    this.#reason = new AbortReason(kind, message);
    this.#controller?.abort(this.#reason);
  }
}
