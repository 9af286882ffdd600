import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Backend, Lease, NewJob, Settlement } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import { openTrace, recordEffect, recordFinal, recordStart, type Trace, traced } from '@surety/core/trace';
import { checkHistory, type HistoryReport } from '@surety/history';
import { createMemoryStore, type MemoryOptions, memory } from '@surety/memory';

/** How each type of job behaves. */
const TYPES = [
  'plain',
  'later',
  'slow',
  'stall',
  'crash',
  'renew-crash',
  'retry',
  'release',
  'poison',
  'poison',
  'closing',
] as const;
type Type = (typeof TYPES)[number];

const QUEUE = 'load';
const CALL = { timeoutMs: 2000 };
const LEASE_MS = 400;
const LONG_MS = 1000;
const LIMIT = 3;
/** Longer than any lease: when nothing was claimed for so long, a job that has no end will have none. */
const QUIET_MS = 4 * LONG_MS;
const ERROR = { code: 'HANDLER_FAILED', name: 'Error', message: 'planned', stack: null, attempt: 1 };

/** A store whose moves are copies, and misbehaves by itself. */
export interface WeakLoad {
  readonly seed: number;
  readonly faults: NonNullable<MemoryOptions['faults']>;
}

/** A short load of all that can happen to a job, over memory with a bug planted; and what the checker says of its history. */
export async function tracedLoad(
  plant: (backend: Backend) => Backend,
  weak: WeakLoad | null = null,
): Promise<HistoryReport> {
  const folder = await mkdtemp(join(tmpdir(), 'surety-load-'));
  try {
    const load = new TracedLoad(folder, plant, weak);
    await load.run();
    return await checkHistory(load.files);
  } finally {
    await rm(folder, { recursive: true });
  }
}

class TracedLoad {
  readonly files: string[] = [];
  readonly #folder: string;
  readonly #plant: (backend: Backend) => Backend;
  readonly #weak: WeakLoad | null;
  readonly #store = createMemoryStore({});
  readonly #ids: string[] = [];
  readonly #releases = new Map<string, number>();
  readonly #starts = new Map<string, number>();
  readonly #open = new Set<string>();
  #isOver = false;
  #claimedAt = 0;

  constructor(folder: string, plant: (backend: Backend) => Backend, weak: WeakLoad | null) {
    this.#folder = folder;
    this.#weak = weak;
    this.#plant = plant;
  }

  async run(): Promise<void> {
    const producer = await this.#connect('producer');
    const workers = await Promise.all(['a', 'b'].map((name) => this.#connect(name)));
    const closer = await this.#connect('closer');
    const working = workers.map((worker) => this.#work(worker));
    await this.#produce(producer.backend);
    await this.#closeHolding(closer);
    await this.#settledDown();
    await this.#operate(producer.backend);
    await this.#settledDown();
    this.#isOver = true;
    await Promise.all(working);
    this.#recordFaults(producer.trace);
    await recordFinal(producer.trace, producer.backend, { queues: [QUEUE], ids: this.#ids });
    for (const { trace } of [producer, ...workers, closer]) trace.close();
    await producer.backend.close({ graceMs: 100 });
  }

  async #connect(name: string): Promise<{ readonly backend: Backend; readonly trace: Trace }> {
    const file = join(this.#folder, `${name}.jsonl`);
    this.files.push(file);
    const trace = openTrace(file);
    const backend = traced(this.#plant(this.#memory()), trace);
    await backend.open({ ...CALL, notify: () => undefined });
    return { backend, trace };
  }

  #memory(): Backend {
    if (this.#weak === null) return memory({ store: this.#store });
    const { seed, faults } = this.#weak;
    // A connection of its own each, with faults of its own.
    return memory({ store: this.#store, profile: 'weak', seed: seed * 100 + this.files.length, faults });
  }

  /** What the store says that it did by itself. */
  #recordFaults(trace: Trace): void {
    for (const { kind, jobId } of this.#store.faults.log)
      if (kind === 'broker-duplicate' || kind === 'crash-between')
        trace.fault(kind, jobId === null ? {} : { jobs: [jobId] });
  }

  async #produce(backend: Backend): Promise<void> {
    const jobs = TYPES.flatMap((type) => Array.from({ length: 4 }, () => this.#job(type)));
    for (let from = 0; from < jobs.length; from += 4)
      await this.#enqueue(backend, jobs.slice(from, from + 4));
    // The same once more, while it is still there.
    const later = jobs.find(({ type }) => type === 'later');
    if (later !== undefined) await backend.enqueue([later], CALL);
    // Beside one that is too large.
    await this.#enqueue(backend, [
      this.#job('plain'),
      { ...this.#job('plain'), payload: JSON.stringify('x'.repeat(2 ** 20)) },
    ]);
    const away = new SuretyError('OUTCOME_UNKNOWN', 'Planned.');
    this.#store.faults.failNext('enqueue', away);
    await this.#enqueue(backend, [this.#job('plain')]);
  }

  #job(type: Type): NewJob {
    const id = randomUUID();
    const plain = { expiresInMs: null, priority: 1, dedupe: null, maxDepth: null, headers: {} };
    const delayMs = type === 'later' ? LONG_MS : 0;
    return {
      id,
      queue: QUEUE,
      type,
      payload: '{}',
      idempotencyKey: id,
      delayMs,
      maxAttempts: LIMIT,
      ...plain,
    };
  }

  async #enqueue(backend: Backend, jobs: readonly NewJob[]): Promise<void> {
    for (const { id } of jobs) this.#ids.push(id);
    const outcomes = await backend.enqueue(jobs, CALL).catch(() => []);
    for (const { status, id } of outcomes) if (status === 'accepted') this.#open.add(id);
  }

  /** Whoever closes its backend while it holds a job keeps the job until its lease ends. */
  async #closeHolding({ backend }: { readonly backend: Backend }): Promise<void> {
    const { leases } = await backend.claim({ ...request(), max: 10, leaseMs: 2 * LONG_MS });
    for (const { id } of leases) this.#open.add(id);
    await sleep(50);
    await backend.close({ graceMs: 100 });
  }

  async #work({ backend, trace }: { readonly backend: Backend; readonly trace: Trace }): Promise<void> {
    const running = new Set<Promise<void>>();
    while (!this.#isOver) {
      const { leases } = await backend.claim(request());
      if (leases.length > 0) this.#claimedAt = performance.now();
      for (const lease of leases) {
        const run = this.#handle(backend, trace, lease);
        running.add(run);
        void run.finally(() => running.delete(run));
      }
      await sleep(20);
    }
    await Promise.all(running);
  }

  async #handle(backend: Backend, trace: Trace, lease: Lease): Promise<void> {
    if (lease.attempt > LIMIT)
      return this.#end(backend, { kind: 'bury', lease, error: { ...ERROR, code: 'WORKER_LOST' } });
    const type = lease.type as Type;
    const releases = this.#releases.get(lease.id) ?? 0;
    if (type === 'release' && releases < 2) {
      this.#releases.set(lease.id, releases + 1);
      return this.#end(backend, { kind: 'release', lease, delayMs: 0, reason: 'unstarted' });
    }
    recordStart(trace, lease);
    recordEffect(trace, lease, 'done');
    const starts = (this.#starts.get(lease.id) ?? 0) + 1;
    this.#starts.set(lease.id, starts);
    const settlement = await this.#act(backend, lease, type, starts);
    if (settlement !== null) await this.#end(backend, settlement);
  }

  /** Null: its worker is gone. */
  async #act(backend: Backend, lease: Lease, type: Type, starts: number): Promise<Settlement | null> {
    const complete = { kind: 'complete', lease, outcome: 'completed' } as const;
    switch (type) {
      case 'slow':
        await this.#holdOn(backend, lease, LONG_MS);
        return complete;
      case 'stall':
        if (starts > 1) await this.#holdOn(backend, lease, LONG_MS);
        else {
          await sleep(2 * LEASE_MS);
          await backend.renew([lease], LEASE_MS, CALL);
        }
        return complete;
      case 'crash':
        return starts > LIMIT + 1 ? complete : null;
      case 'renew-crash':
        if (starts > 1) return complete;
        await this.#holdOn(backend, lease, LEASE_MS);
        return null;
      case 'retry':
        return lease.attempt > 1 ? complete : { kind: 'retry', lease, delayMs: LONG_MS / 2, error: ERROR };
      case 'poison':
        if (lease.redrives > 0) return complete;
        if (lease.attempt >= LIMIT) return { kind: 'bury', lease, error: ERROR };
        return { kind: 'retry', lease, delayMs: 0, error: ERROR };
      default:
        return complete;
    }
  }

  async #holdOn(backend: Backend, lease: Lease, forMs: number): Promise<void> {
    for (let held = 0; held < forMs; held += LEASE_MS / 4) {
      await sleep(LEASE_MS / 4);
      await backend.renew([lease], LEASE_MS, CALL);
    }
  }

  async #end(backend: Backend, settlement: Settlement): Promise<void> {
    let [outcome] = await backend.settle([settlement], CALL);
    for (let tries = 0; outcome?.status === 'unknown' && tries < 5; tries += 1)
      [outcome] = await backend.settle([settlement], CALL);
    const isEnd = settlement.kind === 'complete' || settlement.kind === 'bury';
    if (isEnd && outcome?.status === 'settled') this.#open.delete(settlement.lease.id);
  }

  async #settledDown(): Promise<void> {
    this.#claimedAt = performance.now();
    while (this.#open.size > 0 && performance.now() - this.#claimedAt < QUIET_MS) await sleep(20);
    // Whatever should not be there gets its chance to be claimed.
    await sleep(100);
  }

  async #operate(backend: Backend): Promise<void> {
    const page = await backend.deadLetters.list(
      { queue: QUEUE, limit: 100, cursor: null, type: 'poison' },
      CALL,
    );
    const [first, second, ...rest] = page.entries.map(({ id }) => id);
    const again = [first, second].filter((id) => id !== undefined);
    for (const id of again) this.#open.add(id);
    await backend.deadLetters.redrive(QUEUE, { ids: again }, CALL);
    await backend.deadLetters.discard(QUEUE, { ids: rest.slice(0, 2) }, CALL);
  }
}

function request(): Parameters<Backend['claim']>[0] {
  return { queue: QUEUE, max: 4, leaseMs: LEASE_MS, waitMs: 0, nonce: randomUUID(), signal: null, ...CALL };
}
