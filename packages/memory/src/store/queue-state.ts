import type { QueueCounts } from '@surety/core/contract';
import { Fifo } from '../collections/fifo.ts';
import { IndexedHeap } from '../collections/indexed-heap.ts';
import type { Copy, HeldLease } from './copy.ts';
import { DeadList } from './dead-list.ts';
import { DedupeRecords } from './dedupe-records.ts';
import type { Waiter } from './waiter.ts';

/** A pause or its end, and which backend made it: others may learn later. */
export interface PauseState {
  paused: boolean;
  changedAt: number;
  changedBy: number;
}

/**
 * All copies of one queue and the places they are in. Every operation first calls `promote`, so that what is due is
 * ready and what has ended is free before anything is read: the figures are then simply the sizes of the places.
 *
 * Ready lines are in order of readiness, since time only moves forward and every copy is put at the end of its line
 * at the moment it became ready.
 */
export class QueueState {
  readonly name: string;
  readonly dedupe: DedupeRecords = new DedupeRecords();
  readonly dead: DeadList = new DeadList();
  readonly waiters: Set<Waiter> = new Set();
  readonly pause: PauseState = { paused: false, changedAt: Number.NEGATIVE_INFINITY, changedBy: -1 };
  /** The last figures that were told, where figures are stale. */
  told: { readonly at: number; readonly counts: QueueCounts } | null = null;

  readonly #byId = new Map<string, Copy[]>();
  readonly #lines: readonly Fifo<Copy>[];
  readonly #scheduled = new IndexedHeap<Copy>((a, b) => a.dueAt - b.dueAt || a.serial - b.serial);
  readonly #leased = new IndexedHeap<Copy>((a, b) => freeAtOf(a) - freeAtOf(b) || a.serial - b.serial);
  /** Live claims by nonce. */
  readonly #claims = new Map<string, Set<Copy>>();

  constructor(name: string, levels: number) {
    this.name = name;
    this.#lines = Array.from({ length: levels }, () => new Fifo<Copy>());
  }

  get ready(): number {
    return this.#lines.reduce((sum, line) => sum + line.size, 0);
  }

  get scheduled(): number {
    return this.#scheduled.size;
  }

  get leased(): number {
    return this.#leased.size;
  }

  get empty(): boolean {
    return this.#byId.size === 0;
  }

  /** Since when the oldest ready copy is ready; null when none is. */
  get oldestReadySince(): number | null {
    const heads = this.#lines.map((line) => line.peek()?.dueAt ?? Number.POSITIVE_INFINITY);
    const oldest = Math.min(...heads);
    return Number.isFinite(oldest) ? oldest : null;
  }

  copies(id: string): readonly Copy[] {
    return this.#byId.get(id) ?? [];
  }

  *all(): Generator<Copy> {
    for (const copies of this.#byId.values()) yield* copies;
  }

  /** Adds a copy that is in no place yet. */
  add(copy: Copy): void {
    const present = this.#byId.get(copy.job.id);
    if (present === undefined) this.#byId.set(copy.job.id, [copy]);
    else present.push(copy);
  }

  /** Forgets a copy that is in no place any more. */
  drop(copy: Copy): void {
    const left = this.copies(copy.job.id).filter((other) => other !== copy);
    if (left.length === 0) this.#byId.delete(copy.job.id);
    else this.#byId.set(copy.job.id, left);
  }

  /** Puts a copy that is in no place where its due time says. */
  await(copy: Copy, dueAt: number, now: number): void {
    copy.dueAt = dueAt;
    if (dueAt <= now) return this.#toReady(copy);
    copy.state = 'scheduled';
    this.#scheduled.push(copy);
  }

  bury(copy: Copy, dead: NonNullable<Copy['dead']>): void {
    copy.state = 'dead';
    copy.dead = dead;
    this.dead.push(copy, dead.serial);
  }

  exhume(copy: Copy): void {
    if (copy.dead !== null) this.dead.remove(copy.dead.serial);
    copy.dead = null;
  }

  /** The next ready copy, better level first, in order of readiness; it is in no place then. */
  takeReady(): Copy | undefined {
    for (const line of this.#lines) {
      const copy = line.shift();
      if (copy !== undefined) return copy;
    }
    return undefined;
  }

  lease(copy: Copy, lease: HeldLease): void {
    copy.state = 'leased';
    copy.lease = lease;
    this.#leased.push(copy);
    lease.session.held.add(copy);
    const claim = this.#claims.get(lease.nonce);
    if (claim === undefined) this.#claims.set(lease.nonce, new Set([copy]));
    else claim.add(copy);
  }

  /** Sets a new end, counted from now by the caller. */
  renew(copy: Copy, end: number, freeAt: number): void {
    if (copy.lease === null) return;
    copy.lease.end = end;
    copy.lease.freeAt = freeAt;
    this.#leased.update(copy);
  }

  /** Ends the lease of a copy; it is in no place then. */
  free(copy: Copy): void {
    const lease = copy.lease;
    if (lease === null) return;
    this.#leased.remove(copy);
    copy.lease = null;
    lease.session.held.delete(copy);
    const claim = this.#claims.get(lease.nonce);
    claim?.delete(copy);
    if (claim?.size === 0) this.#claims.delete(lease.nonce);
  }

  /** What a live claim still holds. */
  heldBy(nonce: string): readonly Copy[] {
    return [...(this.#claims.get(nonce) ?? [])];
  }

  /** A claim that ended without a settlement: charged, ready again since that moment. */
  lose(copy: Copy, at: number): void {
    this.free(copy);
    copy.attempt += 1;
    copy.deliveries += 1;
    copy.lostClaims += 1;
    copy.lossBackedOff = false;
    copy.dueAt = at;
    this.#toReady(copy);
  }

  /** Moves all that is due or has ended by now, in order of time. */
  promote(now: number): void {
    this.dedupe.expire(now);
    for (;;) {
      const due = this.#scheduled.peek();
      const held = this.#leased.peek();
      const dueAt = due?.dueAt ?? Number.POSITIVE_INFINITY;
      const freeAt = held === undefined ? Number.POSITIVE_INFINITY : freeAtOf(held);
      if (Math.min(dueAt, freeAt) > now) return;
      if (due !== undefined && dueAt <= freeAt) {
        this.#scheduled.remove(due);
        this.#toReady(due);
      } else if (held !== undefined) {
        this.lose(held, held.lease?.end ?? freeAt);
      }
    }
  }

  /** When something becomes ready by time alone; null: nothing will. */
  nextMoveAt(): number | null {
    const held = this.#leased.peek();
    const next = Math.min(
      this.#scheduled.peek()?.dueAt ?? Number.POSITIVE_INFINITY,
      held === undefined ? Number.POSITIVE_INFINITY : freeAtOf(held),
    );
    return Number.isFinite(next) ? next : null;
  }

  #toReady(copy: Copy): void {
    copy.state = 'ready';
    const level = Math.min(Math.max(copy.job.priority, 0), this.#lines.length - 1);
    this.#lines[level]?.push(copy);
  }
}

function freeAtOf(copy: Copy): number {
  return copy.lease?.freeAt ?? Number.POSITIVE_INFINITY;
}
