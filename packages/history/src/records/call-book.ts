import type { TraceLine } from '@surety/core/trace';
import type { Ref } from '../reading/read-lines.ts';
import type { History } from './history.ts';
import type {
  Birth,
  Call,
  ClaimRecord,
  JobRecord,
  LeaseRecord,
  MoveRecord,
  Pending,
  Process,
  SettleRecord,
} from './records.ts';
import { RoomyClaims } from './roomy-claims.ts';

type Line<Kind extends TraceLine['kind']> = Extract<TraceLine, { readonly kind: Kind }>;

/** Brings calls and their answers together. A call that has no answer stays unknown. */
export class CallBook {
  readonly roomy: RoomyClaims = new RoomyClaims();
  /** Claims that may have leased jobs and told nobody, by queue. */
  readonly lostClaims: Map<string, number> = new Map();
  /** Redrives by selection whose answer is unknown, by queue. */
  readonly lostRedrives: Map<string, number> = new Map();
  readonly lostDiscards: Map<string, number> = new Map();
  /** Answers that never came, or said that they do not know. */
  unknownAnswers = 0;
  readonly #history: History;

  constructor(history: History) {
    this.#history = history;
  }

  take(line: TraceLine, ref: Ref, process: Process): void {
    switch (line.kind) {
      case 'enqueue':
        return this.#enqueue(line, ref, process);
      case 'claim':
        return this.#claim(line, ref, process);
      case 'renew': {
        const leases = line.leases.map((lease) => process.leases.get(lease));
        process.calls.set(line.call, { kind: 'renew', at: line.at, leaseMs: line.leaseMs, leases });
        return;
      }
      case 'settle':
        return this.#settle(line, ref, process);
      case 'redrive':
      case 'discard':
        return this.#move(line, ref, process);
      case 'enqueued':
      case 'claimed':
      case 'renewed':
      case 'settled':
      case 'redriven':
      case 'discarded': {
        const pending = process.calls.get(line.call);
        if (pending === undefined) return;
        process.calls.delete(line.call);
        this.#answer(line, ref, process, pending);
        return;
      }
      default:
        // No call, or of a kind that this version does not know.
        return;
    }
  }

  /** No more lines will come: what has no answer has none. */
  end(): void {
    for (const process of this.#history.processes.values()) {
      for (const pending of process.calls.values()) this.#unanswered(pending);
      process.calls.clear();
      process.nonces.clear();
    }
    for (const job of this.#history.jobs.values()) if (job.isStored) firstWasDone(job);
  }

  #enqueue(line: Line<'enqueue'>, ref: Ref, process: Process): void {
    this.#history.hasEnqueues = true;
    const births = line.jobs.map(({ id, queue, delayMs = 0, maxAttempts }) => {
      const job = this.#history.jobOf(id, queue);
      if (maxAttempts !== undefined) job.maxAttempts = maxAttempts;
      const birth: Birth = { ...callOf(process, ref, line.at), delayMs, status: 'unknown' };
      job.births.push(birth);
      return [job, birth] as const;
    });
    process.calls.set(line.call, { kind: 'enqueue', births, tx: line.tx === true });
  }

  #claim(line: Line<'claim'>, ref: Ref, process: Process): void {
    const { queue, max, leaseMs, nonce } = line;
    if (!process.nonces.has(nonce)) process.nonces.set(nonce, line.at);
    const claim: ClaimRecord = {
      ...callOf(process, ref, line.at),
      queue,
      max,
      leaseMs,
      nonce,
      leasedAt: line.at,
    };
    process.calls.set(line.call, { kind: 'claim', claim });
  }

  #settle(line: Line<'settle'>, ref: Ref, process: Process): void {
    const settles = line.settlements.map((one): SettleRecord | null => {
      const lease = process.leases.get(one.lease);
      if (lease === undefined) return null;
      const { delayMs = 0, code = null } = one;
      const call = callOf(process, ref, line.at);
      const record: SettleRecord = { ...call, does: one.do, delayMs, code, outcome: 'unknown' };
      lease.settles.push(record);
      return record;
    });
    process.calls.set(line.call, { kind: 'settle', settles });
  }

  #move(line: Line<'redrive' | 'discard'>, ref: Ref, process: Process): void {
    const does = line.kind;
    const move = { ...callOf(process, ref, line.at), does };
    const named = (line.ids ?? []).map((id): MoveRecord => {
      const record: MoveRecord = { ...move, status: 'unknown' };
      this.#history.jobOf(id, line.queue).moves.push(record);
      return record;
    });
    const bySelection = line.ids === undefined;
    process.calls.set(line.call, { kind: 'move', queue: line.queue, move, named, bySelection });
  }

  #answer(line: TraceLine & { readonly call: number }, ref: Ref, process: Process, pending: Pending): void {
    if ('error' in line) return this.#failed(line, pending);
    if (pending.kind === 'enqueue' && line.kind === 'enqueued') this.#enqueued(line, ref, pending);
    else if (pending.kind === 'claim' && line.kind === 'claimed')
      this.#claimed(line, ref, process, pending.claim);
    else if (pending.kind === 'renew' && line.kind === 'renewed') this.#renewed(line, pending);
    else if (pending.kind === 'settle' && line.kind === 'settled') this.#settled(line, ref, pending.settles);
    else if (pending.kind === 'move' && (line.kind === 'redriven' || line.kind === 'discarded'))
      this.#moved(line, ref, pending);
  }

  /** What says that nothing was done is as good as no call, but for a settlement: only its lease's end tells. */
  #failed(line: TraceLine & { readonly error: { readonly retryable: string } }, pending: Pending): void {
    const nothingDone = line.error.retryable !== 'unknown';
    if (pending.kind === 'enqueue' && nothingDone) {
      for (const [, birth] of pending.births) birth.status = 'rejected';
      return;
    }
    this.#unanswered(pending);
  }

  #unanswered(pending: Pending): void {
    this.unknownAnswers += 1;
    if (pending.kind === 'claim') add(this.lostClaims, pending.claim.queue);
    if (pending.kind === 'renew') for (const lease of pending.leases) if (lease) lease.endMax = Infinity;
    if (pending.kind === 'move' && pending.bySelection)
      add(pending.move.does === 'redrive' ? this.lostRedrives : this.lostDiscards, pending.queue);
  }

  #enqueued(
    line: Line<'enqueued'> & { outcomes: readonly string[] },
    ref: Ref,
    pending: Extract<Pending, { kind: 'enqueue' }>,
  ): void {
    for (const [index, [job, birth]] of pending.births.entries()) {
      birth.ansRef = ref;
      birth.ansAt = line.at;
      const outcome = line.outcomes[index] ?? 'unknown';
      // Inside a transaction it is stored if and when that commits.
      if (outcome === 'accepted') birth.status = pending.tx ? 'unknown' : 'accepted';
      else if (outcome === 'unknown') this.unknownAnswers += 1;
      else birth.status = 'rejected';
      if (outcome === `duplicate:${job.id}`) job.isStored = true;
    }
  }

  #claimed(
    line: Line<'claimed'> & { leases: readonly unknown[] },
    ref: Ref,
    process: Process,
    claim: ClaimRecord,
  ): void {
    const { leases, leasedAt, paused } = line as Line<'claimed'> & { readonly leasedAt: number };
    claim.ansRef = ref;
    claim.ansAt = line.at;
    const firstAt = process.nonces.get(claim.nonce) ?? claim.at;
    // Repeated: what it brings may have been leased by the first of them.
    claim.leasedAt = Math.min(firstAt < claim.at ? firstAt : leasedAt, line.at);
    process.nonces.delete(claim.nonce);
    if (leases.length < claim.max && paused !== true) this.roomy.add(process.host, claim);
    for (const told of leases) {
      const job = this.#history.jobOf(told.id, claim.queue);
      const { nonce, fence, copy = null } = told;
      const twin = job.leases.find(
        (one) => one.nonce === nonce && one.fence === fence && one.copy === copy && one.claim !== claim,
      );
      if (twin !== undefined) {
        process.leases.set(told.lease, twin);
        if (twin.claim.nonce !== claim.nonce || twin.claim.process !== process)
          job.doubled = [twin.claim.ansRef, ref];
        continue;
      }
      const limit = told.maxAttempts ?? process.limits[told.type ?? ''] ?? null;
      const margin = this.#history.promises?.marginMs ?? 0;
      const lease: LeaseRecord = {
        job,
        claim,
        nonce,
        fence,
        copy,
        attempt: told.attempt,
        redrives: told.redrives ?? 0,
        limit,
        endMin: claim.leasedAt + claim.leaseMs - margin,
        endMax: claim.ansAt + claim.leaseMs,
        startRef: 0,
        effectRef: 0,
        settles: [],
      };
      job.leases.push(lease);
      process.leases.set(told.lease, lease);
    }
  }

  #renewed(line: Line<'renewed'>, { at, leaseMs, leases }: Extract<Pending, { kind: 'renew' }>): void {
    const outcomes = (line as { readonly outcomes: readonly (number | null)[] }).outcomes;
    const margin = this.#history.promises?.marginMs ?? 0;
    for (const [index, lease] of leases.entries()) {
      const left = outcomes[index];
      if (lease === undefined || left === null) continue;
      if (left === undefined) lease.endMax = Infinity;
      else lease.endMin = Math.max(lease.endMin, at + left - margin);
      lease.endMax = Math.max(lease.endMax, line.at + leaseMs);
    }
  }

  #settled(line: Line<'settled'>, ref: Ref, settles: readonly (SettleRecord | null)[]): void {
    const { outcomes } = line as { readonly outcomes: readonly string[] };
    for (const [index, settle] of settles.entries()) {
      if (settle === null) continue;
      const outcome = outcomes[index];
      settle.ansRef = ref;
      settle.ansAt = line.at;
      if (outcome === 'settled' || outcome === 'lease-lost') settle.outcome = outcome;
      else this.unknownAnswers += 1;
    }
  }

  #moved(line: Line<'redriven' | 'discarded'>, ref: Ref, pending: Extract<Pending, { kind: 'move' }>): void {
    const { outcomes } = line as {
      readonly outcomes: readonly { readonly id: string; readonly status: string }[];
    };
    const done = pending.move.does === 'redrive' ? 'redriven' : 'discarded';
    const answered = { ansRef: ref, ansAt: line.at };
    for (const [index, { id, status }] of outcomes.entries()) {
      const job = this.#history.jobOf(id, pending.queue);
      const known = pending.named[index];
      if (known === undefined) {
        if (status === done) job.moves.push({ ...pending.move, ...answered, status: 'done' });
        continue;
      }
      Object.assign(known, answered);
      if (status === done) known.status = 'done';
      else job.moves.splice(job.moves.indexOf(known), 1);
    }
  }
}

function callOf(process: Process, ref: Ref, at: number): Call {
  return { process, ref, at, ansRef: 0, ansAt: Infinity };
}

/** The store said that it holds the job: an enqueue of it whose answer was lost was done. */
function firstWasDone({ births }: JobRecord): void {
  if (births.some(({ status }) => status === 'accepted')) return;
  const unknown = births.find(({ status }) => status === 'unknown');
  if (unknown !== undefined) unknown.status = 'accepted';
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
