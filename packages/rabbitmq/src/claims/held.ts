import type { Lease, LeaseToken, RenewOutcome } from '@surety/core/contract';
import type { Envelope } from '../envelope.ts';
import type { Lane } from './lane.ts';

/** A delivery that is leased. */
export interface Held {
  readonly lane: Lane;
  readonly tag: number;
  /** The nonce of the copy. */
  readonly copy: string;
  readonly queue: string;
  /** All leases of one claim share it. */
  readonly token: LeaseToken;
  readonly envelope: Envelope;
  /** As it was delivered: a move takes the payload from it. */
  readonly body: Buffer;
  /** `performance.now()`. */
  readonly takenAt: number;
  endsAt: number;
  /** `settling`: sent in time; its answer decides, not the clock. */
  state: 'leased' | 'settling' | 'over';
  /** Among the held; -1: it is not. */
  place: number;
}

/** Where a lease keeps which delivery it holds. */
const HELD: unique symbol = Symbol('surety.rabbitmq.held');
/** Which copy of its job it holds, for who records histories. */
const COPY: unique symbol = Symbol.for('surety.copy') as never;
interface HoldingLease extends Lease {
  readonly [HELD]: Held;
  readonly [COPY]: string;
}

const LONGEST_MS = 2 ** 31 - 1;

/** What this process holds. The broker knows no lease: its ends are kept here, by the monotonic clock, and by the life of the channel. */
export class HeldLeases {
  /** In no order. Not a set, which would keep what it held long ago: see the running attempts of core. */
  readonly #all: Held[] = [];
  readonly #expire: (held: Held) => void;
  #timer: NodeJS.Timeout | null = null;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(expire: (held: Held) => void) {
    this.#expire = expire;
  }

  add(held: Held): void {
    held.place = this.#all.push(held) - 1;
    this.#wakeAt(held.endsAt);
  }

  /** The delivery of a lease that is alive and not being settled; null: the lease has ended, or was never one of ours. */
  live(lease: Lease, now: number = performance.now()): Held | null {
    const held = (lease as Partial<HoldingLease>)[HELD];
    if (held === undefined || held.state !== 'leased' || this.#all[held.place] !== held) return null;
    const isMine = held.token.nonce === lease.token.nonce && held.envelope.id === lease.id;
    return isMine && held.lane.isOpen && now < held.endsAt ? held : null;
  }

  renew(held: Held, endsAt: number): RenewOutcome {
    held.endsAt = endsAt;
    this.#wakeAt(endsAt);
    return { status: 'renewed', leaseMs: endsAt - performance.now() };
  }

  /** Settled, or lost: whatever comes later under this lease is refused. */
  end(held: Held): void {
    held.state = 'over';
    if (this.#all[held.place] !== held) return;
    const last = this.#all.pop() as Held;
    if (last !== held) {
      this.#all[held.place] = last;
      last.place = held.place;
    }
    held.place = -1;
  }

  /** The settlement was not done: the lease goes on, or ends now where its time is over. */
  resume(held: Held): void {
    if (held.state !== 'settling') return;
    held.state = 'leased';
    this.#wakeAt(held.endsAt);
  }

  holds(queue: string): boolean {
    for (const held of this.#all) if (held.queue === queue && held.lane.isOpen) return true;
    return false;
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#timerAt = Number.POSITIVE_INFINITY;
    this.#all.length = 0;
  }

  #wakeAt(at: number): void {
    if (at >= this.#timerAt) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(
      () => this.#sweep(),
      Math.min(LONGEST_MS, Math.max(0, Math.ceil(at - performance.now()))),
    );
    // A held lease alone keeps no process alive; its connection does.
    this.#timer.unref();
  }

  #sweep(): void {
    this.#timer = null;
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const held of this.#all.slice()) {
      if (!held.lane.isOpen) this.end(held);
      else if (held.state === 'leased' && held.endsAt <= now) {
        this.end(held);
        this.#expire(held);
      } else if (held.state === 'leased' && held.endsAt < next) next = held.endsAt;
    }
    if (next < Number.POSITIVE_INFINITY) this.#wakeAt(next);
  }
}

/** The lease as core sees it, with the delivery kept inside. */
export function leaseOf(held: Held, payload: Lease['payload'], now: number): Lease {
  const { envelope, queue, token } = held;
  const lease: HoldingLease = {
    id: envelope.id,
    queue,
    type: envelope.type,
    headers: envelope.headers,
    idempotencyKey: envelope.idempotencyKey,
    maxAttempts: envelope.maxAttempts,
    attempt: envelope.attempt + 1,
    deliveries: envelope.deliveries + 1,
    lostClaims: envelope.lostClaims,
    interruptions: envelope.interruptions,
    redrives: envelope.redrives,
    token,
    payload,
    lossBackedOff: envelope.lossBackedOff,
    unknownTypeForMs:
      envelope.unknownTypeSince === null ? null : Math.max(0, now - envelope.unknownTypeSince),
    waitedMs: Math.max(0, now - envelope.dueAt),
    expiresInMs: envelope.expiresAt === null ? null : envelope.expiresAt - now,
    [HELD]: held,
    [COPY]: held.copy,
  };
  return lease;
}
