import type { Lease, RenewOutcome } from '@surety/core/contract';
import { RESERVE_MS } from '../capabilities.ts';
import type { Envelope } from '../envelope.ts';
import type { QueueUrls } from '../topology.ts';

/** A message that was received. */
export interface Taken {
  readonly queue: string;
  readonly urls: QueueUrls;
  readonly handle: string;
  /** The nonce of the copy: the service's id of the message. */
  readonly copy: string;
  /** As it stands at this claim. */
  readonly envelope: Envelope;
  readonly payload: string;
  /** By the clock of the service, when it was taken. */
  readonly takenAtThere: number;
  /** `performance.now()`: it cannot have been taken before. The twelve hours are counted from here. */
  readonly askedAt: number;
  /** Seconds for which it was hidden last. */
  hiddenS: number;
  /** `performance.now()` before which nobody else can get it, less the reserve. */
  hiddenUntil: number;
}

/** A message that is leased. */
export interface Held extends Taken {
  readonly nonce: string;
  endsAt: number;
  /** `settling`: sent in time; its answer decides, not the clock. */
  state: 'leased' | 'settling' | 'over';
  /** Its copy is stored; all that is left is to delete it. */
  isCopied: boolean;
  /** Among the held; -1: it is not. */
  place: number;
}

/** Where a lease keeps which message it holds. */
const HELD: unique symbol = Symbol('surety.sqs.held');
/** Which copy of its job it holds, for who records histories. */
const COPY: unique symbol = Symbol.for('surety.copy') as never;
interface HoldingLease extends Lease {
  readonly [HELD]: Held;
  readonly [COPY]: string;
}

/** What this process holds. The service knows no lease: a late delete may be obeyed. So the ends of leases are kept here, by the monotonic clock. */
export class HeldLeases {
  /** In no order. Not a set, which would keep what it held long ago: see the running attempts of core. */
  readonly #all: Held[] = [];

  add(held: Held): void {
    held.place = this.#all.push(held) - 1;
  }

  /** The message of a lease that is alive and not being settled; null: the lease has ended, or was never one of ours. */
  live(lease: Lease): Held | null {
    const held = (lease as Partial<HoldingLease>)[HELD];
    if (held === undefined || held.state !== 'leased' || this.#all[held.place] !== held) return null;
    if (held.nonce !== lease.token.nonce || held.envelope.id !== lease.id) return null;
    return performance.now() < held.endsAt ? held : null;
  }

  renew(held: Held, endsAt: number, hiddenUntil: number): RenewOutcome {
    held.endsAt = endsAt;
    held.hiddenUntil = hiddenUntil;
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

  /** The settlement is not known to be done: the lease goes on as long as its time does. */
  resume(held: Held): void {
    if (held.state === 'settling') held.state = 'leased';
  }

  /** Forgets what ended without a settlement, once it is visible to others. */
  sweep(now: number): void {
    for (const held of this.#all.slice()) {
      if (held.state === 'leased' && held.endsAt <= now && held.hiddenUntil + RESERVE_MS <= now)
        this.end(held);
    }
  }

  /** Leases of a queue that have ended while the service still hides their jobs. */
  endedButHidden(queue: string): number {
    const now = performance.now();
    this.sweep(now);
    let count = 0;
    for (const held of this.#all)
      if (held.queue === queue && held.state === 'leased' && held.endsAt <= now) count += 1;
    return count;
  }

  holds(queue: string): boolean {
    const now = performance.now();
    for (const held of this.#all) if (held.queue === queue && held.endsAt > now) return true;
    return false;
  }

  clear(): void {
    this.#all.length = 0;
  }
}

/** Seconds that a message is hidden for a lease. */
export function visibilityFor(leaseMs: number): number {
  return Math.ceil((leaseMs + RESERVE_MS) / 1000);
}

/** The lease as core sees it, with the message kept inside. `leasedAt`: from when its length counts. */
export function leaseOf(
  taken: Taken,
  nonce: string,
  endsAt: number,
): { readonly held: Held; readonly lease: Lease } {
  const { envelope, queue, payload, takenAtThere } = taken;
  const held: Held = Object.assign(taken, {
    nonce,
    endsAt,
    state: 'leased' as const,
    isCopied: false,
    place: -1,
  });
  const since = envelope.unknownTypeSince;
  const { expiresInMs, enqueuedAt } = envelope;
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
    token: { nonce, fence: 0 },
    payload: parsed(payload),
    lossBackedOff: envelope.lossBackedOff,
    unknownTypeForMs: since === null ? null : Math.max(0, takenAtThere - since),
    waitedMs: Math.max(0, takenAtThere - envelope.dueAt),
    expiresInMs: expiresInMs === null || enqueuedAt === null ? null : enqueuedAt + expiresInMs - takenAtThere,
    [HELD]: held,
    [COPY]: held.copy,
  };
  return { held, lease };
}

function parsed(payload: string): Lease['payload'] {
  try {
    return { value: JSON.parse(payload) as unknown };
  } catch (error) {
    return { unreadable: error instanceof Error ? error.message : String(error) };
  }
}
