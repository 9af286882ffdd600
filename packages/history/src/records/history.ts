import type { TraceLine } from '@surety/core/trace';
import type { Ref } from '../reading/read-lines.ts';
import { CallBook } from './call-book.ts';
import type { FinalRecord, JobRecord, Process, Promises, UndoneSpan } from './records.ts';

/** A job that a fault or notice names. */
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** An acknowledgement that no broker confirms may be undone by an end of the broker that comes this much later. */
const UNWRITTEN_MS = 1000;

/** What was recorded, by job. Lines of one process may come from several files, in any order of the files. */
export class History {
  readonly jobs: Map<string, JobRecord> = new Map();
  readonly processes: Map<string, Process> = new Map();
  readonly finals: Map<string, FinalRecord> = new Map();
  readonly faults: Map<string, number> = new Map();
  readonly undone: UndoneSpan[] = [];
  readonly book: CallBook = new CallBook(this);
  promises: Promises | null = null;
  lines = 0;
  /** Enqueues were traced: a job that nobody enqueued is then a finding. */
  hasEnqueues = false;
  #dead: readonly Process[] | null = null;
  readonly #openSpans = new Map<string, UndoneSpan>();

  /** Takes the next line of a file. Lines of kinds that it does not know are left alone. */
  take(line: TraceLine, ref: Ref): void {
    this.lines += 1;
    const process = this.#processOf(line.process);
    const silentMs = line.at - process.lastAt;
    if (silentMs > 0) process.lastAt = line.at;
    if (silentMs > process.silenceMs && silentMs < Infinity) process.silenceMs = silentMs;
    switch (line.kind) {
      case 'close':
        process.open -= 1;
        return;
      case 'open':
        process.host = line.host;
        process.open += 1;
        return;
      case 'backend':
        this.promises = weaker(this.promises, line);
        return;
      case 'worker':
        process.limits = { ...process.limits, ...line.limits };
        return;
      case 'start':
      case 'effect': {
        const lease = process.leases.get(line.lease);
        if (line.kind === 'start' && lease !== undefined) lease.startRef = ref;
        if (line.kind === 'effect') this.#effect(line, ref, process);
        return;
      }
      case 'fault':
        return this.#fault(line, process);
      case 'notice':
        if (line.notice !== 'recovered') for (const [id] of line.text.matchAll(ID)) this.#name(id);
        return;
      case 'found':
        return this.#found(line, ref);
      case 'final': {
        const { ready, scheduled, leased, deadListed } = line;
        const known = [ready, scheduled, leased].filter((count) => count !== null);
        // A store that cannot count the leased ones has none when nothing runs any more.
        const waiting = known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0);
        this.finals.set(line.queue, { ref, waiting, deadListed });
        return;
      }
      default:
        this.book.take(line, ref, process);
    }
  }

  jobOf(id: string, queue: string): JobRecord {
    let job = this.jobs.get(id);
    if (job === undefined) {
      job = {
        id,
        queue,
        births: [],
        leases: [],
        moves: [],
        found: [],
        absentRef: 0,
        doubled: null,
        maxAttempts: null,
        isStored: false,
        effects: 0,
        effectNames: [],
        named: 0,
      };
      this.jobs.set(id, job);
    }
    if (job.queue === '') job.queue = queue;
    return job;
  }

  #processOf(id: string): Process {
    let process = this.processes.get(id);
    if (process === undefined) {
      process = {
        id,
        host: id,
        lastAt: -Infinity,
        silenceMs: 0,
        open: 0,
        limits: {},
        calls: new Map(),
        leases: new Map(),
        nonces: new Map(),
      };
      this.processes.set(id, process);
    }
    return process;
  }

  /** Processes that ended without a word. */
  get dead(): readonly Process[] {
    this.#dead ??= [...this.processes.values()].filter(({ open }) => open > 0);
    return this.#dead;
  }

  #effect(line: TraceLine & { readonly kind: 'effect' }, ref: Ref, process: Process): void {
    const job = this.jobOf(line.id, '');
    job.effects += 1;
    if (!job.effectNames.includes(line.name)) job.effectNames.push(line.name);
    const lease = process.leases.get(line.lease);
    if (lease !== undefined) lease.effectRef = ref;
  }

  #fault(line: TraceLine & { readonly kind: 'fault' }, { host }: Process): void {
    if (line.phase !== 'end') this.faults.set(line.fault, (this.faults.get(line.fault) ?? 0) + 1);
    for (const id of line.jobs ?? []) this.#name(id);
    if (line.mayUndo !== true) return;
    const key = `${host} ${line.fault}`;
    const open = this.#openSpans.get(key);
    if (line.phase === 'end' && open !== undefined) {
      open.to = line.at + UNWRITTEN_MS;
      this.#openSpans.delete(key);
      return;
    }
    const lasts = line.phase === 'begin';
    const span = { host, from: line.at - UNWRITTEN_MS, to: lasts ? Infinity : line.at + UNWRITTEN_MS };
    this.undone.push(span);
    if (lasts) this.#openSpans.set(key, span);
  }

  #name(id: string): void {
    this.jobOf(id, '').named += 1;
  }

  #found(line: TraceLine & { readonly kind: 'found' }, ref: Ref): void {
    for (const { id, state, reason, hasError } of line.jobs) {
      const job = this.jobOf(id, line.queue);
      const found = { ref, state, reason: reason ?? null, hasError: hasError ?? null };
      // A dead letter is met in the listing and by its id.
      const known = job.found.findIndex(
        (one) => one.state === state && (one.reason === null || found.reason === null),
      );
      if (known >= 0 && state === 'dead') {
        if (found.reason !== null) job.found[known] = found;
      } else job.found.push(found);
    }
    for (const id of line.absent ?? []) this.jobOf(id, line.queue).absentRef = ref;
  }
}

/** Of several backends only what all of them promise is asked. */
function weaker(known: Promises | null, line: Promises): Promises {
  const { moves, attempts, fence, endsBy, reclaimBoundMs, marginMs } = line;
  if (known === null) return { moves, attempts, fence, endsBy, reclaimBoundMs, marginMs };
  return {
    moves: known.moves === 'copy' ? 'copy' : moves,
    attempts: known.attempts === 'upper-bound' ? 'upper-bound' : attempts,
    fence: known.fence === 'none' ? 'none' : fence,
    endsBy: known.endsBy === 'time' ? endsBy : 'time-or-connection',
    reclaimBoundMs: Math.max(known.reclaimBoundMs, reclaimBoundMs),
    marginMs: Math.max(known.marginMs, marginMs),
  };
}
