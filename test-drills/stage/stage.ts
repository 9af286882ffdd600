import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend, CallOptions, Capabilities, QueueCounts } from '@surety/core/contract';
import type { Account } from './account.ts';
import {
  type Connect,
  connectTo,
  freshQueueName,
  type Place,
  type Road,
  type ServerControl,
} from './place.ts';
import { type Random, seededRandom } from './random.ts';
import { eventually, pause, type Wait } from './waiting.ts';
import { startWorker, type WorkerProcess } from './worker.ts';
import type { Sabotage, WorkerSettings } from './worker-messages.ts';

/** A worker process that a drill wants. */
export interface WorkerOrder {
  /** `worker-1`, ... when left out. */
  readonly name?: string;
  /** A module beside the drill, `besides(import.meta.url, 'handlers')`; it exports `handlers(tools, args)`. */
  readonly handlers: URL;
  /** JSON, handed to `handlers`. */
  readonly args?: unknown;
  readonly settings: WorkerSettings;
  readonly sabotage?: Sabotage;
  /** Over this road; straight to the server when left out. */
  readonly road?: Road;
  readonly clockSkewMs?: number;
  /** Limit of its heap. */
  readonly memoryMb?: number;
}

/** What a drill works with. Everything it opens, starts and writes is gone after it, whether it held or not. */
export interface Stage extends Pick<Account, 'figure' | 'must'> {
  /** Name of the adapter, for what is shown; capabilities decide. */
  readonly backend: string;
  readonly capabilities: Capabilities;
  readonly seed: number;
  readonly random: Random;
  /** A small form of the drill, for tests that run at every change. */
  readonly quick: boolean;
  /** Hours take hours. */
  readonly realTime: boolean;
  /** For files of the drill; removed after it. */
  readonly folder: string;
  /** Aborts when the drill is broken off: its time is over, or somebody interrupts it. */
  readonly signal: AbortSignal;
  /** Limit of calls that meet no fault. */
  readonly call: CallOptions;
  /** The shortest lease that is worth waiting out, within the backend's limits. */
  readonly leaseMs: number;
  /** From the end of a lease on: the backend's stated bound, and what a busy machine may take. */
  readonly reclaimWithinMs: number;
  /** A name that no queue has had before. */
  queue(): string;
  /** A backend with connections of its own, opened. */
  open(road?: Road): Promise<Backend>;
  /** The same, not opened: for a client or worker of core in this process, which opens it. */
  connect(road?: Road): Promise<Backend>;
  worker(order: WorkerOrder): Promise<WorkerProcess>;
  /** Present where the drill `needs` it. */
  readonly server: ServerControl | null;
  /** A new road to the server. Throws where there is none; drills that `need` the network are not run there. */
  road(): Promise<Road>;
  /** Rewrites the line that shows what goes on. */
  progress(text: string): void;
  /** As the function of this name, broken off with the drill. */
  eventually<T>(
    what: string,
    withinMs: number,
    probe: () => T | Promise<T>,
    everyMs?: number,
  ): Promise<Exclude<T, false | null | undefined>>;
  pause(ms: number): Promise<void>;
  counts(backend: Backend, queue: string): Promise<QueueCounts>;
}

/** A stage and the way to take it down. */
export interface SetStage {
  readonly stage: Stage;
  /** Ends what was started and removes what was written; never throws. What it could not do is in the answer. */
  readonly strike: () => Promise<readonly string[]>;
}

export interface StageOptions {
  readonly place: Place;
  readonly account: Account;
  readonly seed: number;
  readonly quick: boolean;
  readonly realTime: boolean;
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
}

const CALL_MS = 15_000;
/** Long enough that a busy machine renews within it, short enough to wait out. */
const SHORT_LEASE_MS = 2000;
/** What two busy cores may be late beside a stated bound. */
const SLACK_MS = 2000;
const CLOSE_MS = 5000;

/** Sets up one drill. */
export async function setStage(options: StageOptions): Promise<SetStage> {
  const { place, account, signal } = options;
  const folder = await mkdtemp(join(tmpdir(), 'surety-drill-'));
  const opened: Backend[] = [];
  const workers: WorkerProcess[] = [];
  const starting = new Set<Promise<unknown>>();
  const roads: Road[] = [];
  let ordered = 0;
  const probe = await connectTo(place.connect);
  const { lease } = probe.capabilities;
  const connect = async (road?: Road): Promise<Backend> => {
    const backend = await connectTo((road ?? place).connect);
    opened.push(backend);
    return backend;
  };
  const stage: Stage = {
    figure: account.figure,
    must: account.must,
    backend: place.backend,
    capabilities: probe.capabilities,
    seed: options.seed,
    random: seededRandom(options.seed),
    quick: options.quick,
    realTime: options.realTime,
    folder,
    signal,
    call: { timeoutMs: CALL_MS },
    leaseMs: Math.min(Math.max(SHORT_LEASE_MS, lease.minMs), lease.maxMs),
    reclaimWithinMs: lease.reclaimBoundMs + SLACK_MS,
    queue: freshQueueName,
    connect,
    async open(road) {
      signal.throwIfAborted();
      const backend = await connect(road);
      await backend.open({ timeoutMs: CALL_MS, notify: () => undefined });
      return backend;
    },
    async worker(order) {
      signal.throwIfAborted();
      const started = startWorker(taskOf(order, place.connect, ++ordered), {
        folder,
        signal,
        memoryMb: order.memoryMb ?? null,
      });
      starting.add(started);
      try {
        const worker = await started;
        workers.push(worker);
        return worker;
      } finally {
        starting.delete(started);
      }
    },
    server: place.server,
    async road() {
      if (place.road === null) throw new Error(`the road to ${place.where} is not the drill's to break`);
      const road = await place.road();
      roads.push(road);
      return road;
    },
    progress: options.progress,
    eventually: (what, withinMs, ask, everyMs) =>
      eventually(signal, ask, { what, withinMs, ...(everyMs !== undefined && { everyMs }) } satisfies Wait),
    pause: (ms) => pause(signal, ms),
    counts: (backend, queue) => backend.counts(queue, { timeoutMs: CALL_MS }),
  };
  const strike = async (): Promise<readonly string[]> => {
    await Promise.allSettled(starting);
    const ends = [
      ...workers.map(async (worker) => {
        worker.thaw();
        await worker.kill();
      }),
      ...roads.map((road) => road.heal().then(() => road[Symbol.asyncDispose]())),
      ...opened.map((backend) => backend.close({ graceMs: CLOSE_MS })),
      rm(folder, { recursive: true, force: true, maxRetries: 3 }),
    ];
    const results = await Promise.allSettled(ends);
    return results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
  };
  return { stage, strike };
}

function taskOf(order: WorkerOrder, straight: Connect, number: number): Parameters<typeof startWorker>[0] {
  return {
    name: order.name ?? `worker-${number}`,
    connect: order.road?.connect ?? straight,
    handlers: order.handlers.href,
    args: order.args ?? null,
    settings: order.settings,
    sabotage: order.sabotage ?? {},
    clockSkewMs: order.clockSkewMs ?? 0,
  };
}
