import type { FindingKind } from '@surety/history';
import { type Chance, chanceOf } from './chance.ts';
import { type Does, type ModelJob, type ModelLease, ModelStore, RECLAIM_BOUND_MS } from './model-store.ts';

export interface RunOptions {
  readonly seed: number;
  readonly jobs: number;
  readonly workers: number;
  readonly hosts: number;
  /** Share of calls whose answer is lost. */
  readonly unclear: number;
  /** Share of jobs whose worker holds them past their lease. */
  readonly stalls: number;
  /** Share of claims after which the worker dies and another process takes its place. */
  readonly deaths: number;
  readonly plant: FindingKind | null;
  /** Sets the processes and hosts of several runs apart. */
  readonly name?: string;
}

/** The traces of a run, one text for each process, and the job that the planted fault met. */
export interface RunResult {
  readonly traces: readonly string[];
  readonly planted: string | null;
  readonly events: number;
}

const QUEUE = 'q';
const LEASE_MS = 400;
/** Idle workers ask so often. */
const POLL_MS = 60;

/** Several processes work on the model of a store. Their clocks have nothing to do with each other but on one host. */
export function modelRun(options: RunOptions): RunResult {
  return new ModelRun(options).run();
}

class Tracer {
  readonly lines: string[] = [];
  readonly host: number;
  isDead = false;
  #seq = 0;
  #calls = 0;
  readonly #id: string;

  constructor(id: string, host: number) {
    this.#id = id;
    this.host = host;
  }

  /** `now` by the store; each host has a beginning of its own. */
  write(now: number, event: object): void {
    if (this.isDead) return;
    const head = {
      process: this.#id,
      seq: ++this.#seq,
      at: Math.round((now + this.host * 7_000_000) * 1000) / 1000,
    };
    this.lines.push(JSON.stringify({ ...event, ...head }));
  }

  call(): number {
    return ++this.#calls;
  }
}

class ModelRun {
  readonly #options: RunOptions;
  readonly #chance: Chance;
  readonly #store: ModelStore;
  readonly #tracers: Tracer[] = [];
  readonly #agenda: { readonly at: number; readonly act: () => void }[] = [];
  readonly #open = new Set<string>();
  #now = 0;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#chance = chanceOf(options.seed);
    this.#store = new ModelStore(this.#chance, options.plant);
  }

  run(): RunResult {
    const { jobs, workers } = this.#options;
    const producer = this.#tracer();
    for (let made = 0; made < jobs; made += 1)
      this.#at(this.#chance.next() * jobs * 8, () => this.#enqueue(producer));
    for (let index = 0; index < workers; index += 1) this.#worker();
    this.#drain();
    this.#finish(producer);
    const { planted } = this.#store;
    const traces = this.#tracers.map(({ lines, isDead }) => `${lines.join('\n')}${isDead ? '' : '\n'}`);
    return { traces, planted, events: this.#tracers.reduce((sum, { lines }) => sum + lines.length, 0) };
  }

  #tracer(): Tracer {
    const { hosts, name = '' } = this.#options;
    const number = this.#tracers.length;
    const tracer = new Tracer(`${name}p${number}`, number % hosts);
    this.#tracers.push(tracer);
    tracer.write(this.#now, {
      kind: 'open',
      v: 1,
      host: `${name}host-${number % hosts}`,
      pid: number,
      wall: 'then',
    });
    const lease = { endsBy: 'time', reclaimBoundMs: RECLAIM_BOUND_MS, marginMs: 0 };
    tracer.write(this.#now, {
      kind: 'backend',
      name: 'model',
      moves: 'atomic',
      attempts: 'exact',
      fence: 'monotonic',
      ...lease,
    });
    return tracer;
  }

  #at(at: number, act: () => void): void {
    this.#agenda.push({ at, act });
    for (let child = this.#agenda.length - 1; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (this.#time(parent) <= this.#time(child)) break;
      this.#swap(parent, child);
      child = parent;
    }
  }

  #next(): { readonly at: number; readonly act: () => void } | undefined {
    const last = this.#agenda.length - 1;
    if (last > 0) this.#swap(0, last);
    const first = this.#agenda.pop();
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1;
      const least = this.#time(left + 1) < this.#time(left) ? left + 1 : left;
      if (this.#time(least) >= this.#time(parent)) break;
      this.#swap(parent, least);
      parent = least;
    }
    return first;
  }

  #time(index: number): number {
    return this.#agenda[index]?.at ?? Infinity;
  }

  #swap(a: number, b: number): void {
    const one = this.#agenda[a];
    this.#agenda[a] = this.#agenda[b] as never;
    this.#agenda[b] = one as never;
  }

  #later(ms: number, act: () => void): void {
    this.#at(this.#now + ms, act);
  }

  /** Runs all that is planned. Workers stop by themselves when nothing is open. */
  #drain(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#now = next.at;
      next.act();
    }
  }

  #isUnclear(): boolean {
    // What was planted must not be excused by what comes later.
    return this.#store.planted === null && this.#chance.of(this.#options.unclear);
  }

  #enqueue(
    producer: Tracer,
    id = this.#chance.uuid(),
    limit = this.#chance.whole(1, 4),
    isLast = false,
  ): void {
    const call = producer.call();
    const delayMs = this.#chance.of(0.3) ? this.#chance.whole(100, 600) : 0;
    this.#open.add(id);
    this.#store.isSent(id);
    producer.write(this.#now, {
      kind: 'enqueue',
      call,
      jobs: [{ id, queue: QUEUE, type: 't', delayMs, maxAttempts: limit }],
    });
    const unclear = !isLast && this.#isUnclear();
    this.#later(this.#chance.next() * 5, () => {
      // Done or not, nobody is told.
      if (unclear && this.#chance.of(0.5)) return;
      this.#store.isMute = false;
      const status = this.#store.enqueue(id, limit, delayMs, this.#now);
      if (!unclear) this.#later(1, () => this.#enqueued(producer, call, id, status));
    });
    if (unclear)
      this.#later(20, () => {
        if (this.#chance.of(0.5))
          producer.write(this.#now, { kind: 'enqueued', call, error: { code: 'X', retryable: 'unknown' } });
        if (this.#store.planted !== id && this.#chance.of(0.7)) this.#enqueue(producer, id, limit, true);
        else if (this.#store.jobs.get(id) === undefined) this.#open.delete(id);
      });
  }

  #enqueued(producer: Tracer, call: number, id: string, status: string): void {
    producer.write(this.#now, {
      kind: 'enqueued',
      call,
      outcomes: [status === 'duplicate' ? `duplicate:${id}` : status],
    });
    const job = this.#store.jobs.get(id);
    if (job === undefined) return;
    job.isKnown = true;
    if (status !== 'accepted' || job.state !== 'waiting') return;
    if (this.#store.occasion('lost', id, 0.1)) job.state = 'gone';
    if (!this.#store.occasion('not-terminal', id)) return;
    job.hiddenUntil = Infinity;
    this.#open.delete(id);
  }

  #worker(): void {
    const tracer = this.#tracer();
    const leases = { next: 0 };
    const turn = (): void => {
      if (tracer.isDead) return;
      this.#claim(tracer, leases);
      if (this.#hasWork()) this.#later(POLL_MS * (0.5 + this.#chance.next()), turn);
    };
    this.#later(this.#chance.next() * POLL_MS, turn);
  }

  #hasWork(): boolean {
    for (const id of this.#open) {
      const state = this.#store.jobs.get(id)?.state;
      if (state === 'dead' || state === 'gone') this.#open.delete(id);
    }
    return this.#open.size > 0;
  }

  #claim(tracer: Tracer, leases: { next: number }): void {
    const call = tracer.call();
    const nonce = this.#chance.uuid();
    const max = this.#chance.whole(1, 3);
    tracer.write(this.#now, { kind: 'claim', call, queue: QUEUE, max, leaseMs: LEASE_MS, nonce });
    const sentAt = this.#now;
    this.#later(this.#chance.next() * 4, () => {
      const isUnclear = this.#isUnclear();
      this.#store.isMute = isUnclear || tracer.isDead;
      const isEarly = (job: ModelJob): boolean => {
        const isSure = this.#options.hosts === 1 && job.sent === 1 && job.redrives === 0 && !job.isUnclear;
        return isSure && job.due - this.#now > 60 && this.#store.occasion('early', job.id);
      };
      const claimed = this.#store.claim(max, LEASE_MS, nonce, this.#now, isEarly);
      this.#double(claimed, max, nonce);
      this.#store.isMute = false;
      if (isUnclear) return;
      this.#later(1, () => {
        const told = claimed.map((lease) => ({ lease: ++leases.next, ...lease }));
        const all = told.map(({ limit, ...lease }) => ({ ...lease, maxAttempts: limit }));
        const at = Math.round((sentAt + tracer.host * 7_000_000) * 1000) / 1000;
        tracer.write(this.#now, { kind: 'claimed', call, leasedAt: at, leases: all });
        const isKilled = this.#store.planted === null && this.#chance.of(this.#options.deaths);
        if (isKilled) return this.#die(tracer);
        for (const lease of told) this.#hold(tracer, lease);
      });
    });
  }

  /** Plants a second holder where the first is certain to be one. */
  #double(claimed: ModelLease[], max: number, nonce: string): void {
    if (this.#options.hosts > 1 || claimed.length === max) return;
    for (const job of this.#store.jobs.values()) {
      const since = job.end - LEASE_MS;
      const isFresh =
        job.state === 'leased' &&
        this.#busy.has(job.nonce + job.id) &&
        this.#now - since > 30 &&
        this.#now - since < 60;
      if (
        !isFresh ||
        claimed.some(({ id }) => id === job.id) ||
        !this.#store.occasion('two-holders', job.id, 0.5)
      )
        continue;
      claimed.push(this.#store.lease(job, LEASE_MS, nonce, this.#now));
      return;
    }
  }

  readonly #busy = new Set<string>();

  #die(tracer: Tracer): void {
    tracer.isDead = true;
    const last = tracer.lines.at(-1) ?? '';
    // Killed while it wrote.
    if (this.#chance.of(0.5)) tracer.lines.push(last.slice(0, this.#chance.whole(1, last.length - 1)));
    this.#worker();
  }

  #hold(tracer: Tracer, lease: ModelLease & { readonly lease: number }): void {
    if (tracer.isDead) return;
    const { lease: number, id } = lease;
    const isBeyond = lease.attempt > lease.limit;
    if (isBeyond && !this.#store.occasion('attempts-exceeded', id, 1))
      return this.#settle(tracer, lease, 'bury', 'WORKER_LOST');
    if (!isBeyond && this.#chance.of(0.1)) return this.#settle(tracer, lease, 'release', '');
    tracer.write(this.#now, { kind: 'start', lease: number, id });
    if (this.#chance.of(0.5)) tracer.write(this.#now, { kind: 'effect', lease: number, id, name: 'mail' });
    const isStalled = this.#chance.of(this.#options.stalls);
    const forMs = isStalled ? LEASE_MS + this.#chance.whole(60, 300) : this.#chance.whole(5, 250);
    if (forMs > 160 && !isStalled) this.#busy.add(lease.nonce + id);
    if (!isStalled && forMs > 100 && this.#chance.of(0.5)) this.#later(50, () => this.#renew(tracer, lease));
    const draw = this.#chance.next();
    const end: Does = draw < 0.6 ? 'complete' : draw < 0.9 && lease.attempt < lease.limit ? 'retry' : 'bury';
    this.#later(forMs, () => {
      this.#busy.delete(lease.nonce + id);
      this.#settle(tracer, lease, end, end === 'bury' ? 'HANDLER_FAILED' : 'X');
    });
  }

  #renew(tracer: Tracer, lease: ModelLease & { readonly lease: number }): void {
    if (tracer.isDead) return;
    const call = tracer.call();
    tracer.write(this.#now, { kind: 'renew', call, leaseMs: LEASE_MS, leases: [lease.lease] });
    const sentAt = this.#now;
    const unclear = this.#isUnclear();
    if (unclear) this.#unclear(lease);
    this.#later(1, () => {
      const isRenewed = this.#store.renew(lease, LEASE_MS, this.#now);
      const left = isRenewed ? LEASE_MS - (this.#now - sentAt) : null;
      if (!unclear) tracer.write(this.#now, { kind: 'renewed', call, outcomes: [left] });
    });
  }

  #settle(
    tracer: Tracer,
    lease: ModelLease & { readonly lease: number },
    does: Does,
    code: string,
    again = true,
  ): void {
    if (tracer.isDead) return;
    const { lease: number, id } = lease;
    const call = tracer.call();
    const delayMs = does === 'retry' && this.#chance.of(0.6) ? this.#chance.whole(100, 500) : 0;
    const isMute =
      does === 'bury' &&
      this.#store.isHeld(lease, this.#now + 10) &&
      this.#store.occasion('dead-without-reason', id);
    const reason = isMute ? '' : code;
    tracer.write(this.#now, {
      kind: 'settle',
      call,
      settlements: [{ lease: number, id, do: does, delayMs, code: reason }],
    });
    const isEnd = does === 'complete' || does === 'bury';
    const isOver = isEnd && again && (this.#isOver(lease) || this.#isOvertaken(lease));
    const late = isOver && this.#store.occasion('fenced-settled', id, 1);
    const unclear = this.#isUnclear();
    if (unclear) this.#unclear(lease, does);
    const isRepeated = again && !unclear && this.#chance.of(0.1);
    this.#later(this.#chance.next() * 3, () => {
      if (unclear && this.#chance.of(0.5)) return;
      this.#store.isMute = unclear || tracer.isDead;
      const twice = !again && !unclear && !this.#store.isHeld(lease, this.#now);
      const isDone = this.#store.settle(lease, does, delayMs, reason, this.#now, late);
      const isTwice = twice && this.#settledOnce.has(lease) && this.#store.occasion('settled-twice', id, 1);
      if (isDone) if (!unclear) this.#settledOnce.add(lease);
      if (unclear) return;
      this.#later(1, () =>
        tracer.write(this.#now, {
          kind: 'settled',
          call,
          outcomes: [isDone || isTwice ? 'settled' : 'lease-lost'],
        }),
      );
    });
    if (unclear)
      this.#later(10, () => {
        if (tracer.isDead) return;
        tracer.write(this.#now, { kind: 'settled', call, outcomes: ['unknown'] });
        if (this.#chance.of(0.7)) this.#settle(tracer, lease, does, code, false);
      });
    // The same once more: honest stores say that the lease is gone.
    else if (isRepeated)
      this.#later(10, () => {
        if (!tracer.isDead) this.#settle(tracer, lease, does, code, false);
      });
  }

  readonly #settledOnce = new Set<ModelLease>();

  /** Its answer is lost: what it did cannot be proven. */
  #unclear({ id, nonce }: ModelLease, does?: Does): void {
    const job = this.#store.jobs.get(id);
    if (job === undefined) return;
    if (does === 'complete') job.mayBeCompleted = true;
    if (job.nonce === nonce) job.isUnclear = true;
  }

  #isOver({ id, nonce }: ModelLease): boolean {
    const job = this.#store.jobs.get(id);
    if (job === undefined || job.isUnclear) return false;
    return job.nonce === nonce && job.state === 'leased' && job.end + 40 < this.#now;
  }

  #isOvertaken({ id, nonce }: ModelLease): boolean {
    const job = this.#store.jobs.get(id);
    if (job === undefined || job.isUnclear || !job.isSeen) return false;
    return (
      this.#options.hosts === 1 &&
      job.state === 'leased' &&
      job.nonce !== nonce &&
      this.#now - (job.end - LEASE_MS) > 40
    );
  }

  #finish(operator: Tracer): void {
    const { jobs } = this.#store;
    this.#now += 1000;
    for (const job of jobs.values()) {
      if (job.state !== 'dead' || job.id === this.#store.planted || !this.#chance.of(0.3)) continue;
      this.#move(operator, job.id, this.#chance.of(0.5) ? 'redrive' : 'discard');
    }
    this.#workAgain();
    const found = [...jobs.values()].flatMap(({ id, state, reason }) => {
      if (state === 'dead') return [{ id, state, reason, hasError: reason !== '' }];
      return state === 'gone' ? [] : [{ id, state: 'ready' }];
    });
    const absent = [...jobs.values()].filter(({ state }) => state === 'gone').map(({ id }) => id);
    operator.write(this.#now, { kind: 'found', queue: QUEUE, jobs: found, absent });
    const dead = found.filter(({ state }) => state === 'dead').length;
    const counts = { ready: found.length - dead, scheduled: 0, leased: 0, dead, deadListed: true };
    operator.write(this.#now, { kind: 'final', queue: QUEUE, ...counts });
  }

  #move(operator: Tracer, id: string, does: 'redrive' | 'discard'): void {
    const call = operator.call();
    operator.write(this.#now, { kind: does, call, queue: QUEUE, ids: [id] });
    const isDone = does === 'redrive' ? this.#store.redrive(id, this.#now) : this.#store.discard(id);
    if (does === 'redrive') this.#open.add(id);
    this.#now += 1;
    const status = isDone ? `${does}${does === 'redrive' ? 'n' : 'ed'}` : 'not-found';
    const kind = does === 'redrive' ? 'redriven' : 'discarded';
    operator.write(this.#now, {
      kind,
      call,
      outcomes: [{ id, status: status === 'redriven' ? 'redriven' : status }],
    });
  }

  #workAgain(): void {
    if (!this.#hasWork()) return;
    this.#worker();
    this.#drain();
    this.#now += 1000;
  }
}
