import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import { createMemoryStore, memory } from '@surety/memory';
import { type Actor, type ActorTask, NO_STATE } from '../soak/actor.ts';
import type { Mix } from '../soak/jobs.ts';
import { startPart } from '../soak/part.ts';
import type { SoakReport } from '../soak/report.ts';
import { soak } from '../soak/soak.ts';
import { override } from '../stage/override.ts';

export const SEED = 20_260_101;
export const JOBS = 300;
export const FAULTS = 9;
/** Dense: in some seconds everything happens that a long one has. Nobody kills a process that is shared. */
const SHORT_MIX: Mix = {
  plain: 20,
  later: 15,
  fails: 12,
  slow: 8,
  late: 60,
  snoozes: 8,
  stuck: 3,
  poison: 8,
  bury: 4,
  large: 1,
  crash: 0,
};

/** How much of it is jobs that end their process, beside the other ways; and for how long it may drain: what lost its worker twice is put off. */
interface Violence {
  readonly crash: number;
  readonly drainMs: number;
}

/** The load, faults and verdict of a soak in one process, over memory with a bug planted around it. */
export async function miniSoak(
  plant: (backend: Backend) => Backend,
  { crash, drainMs }: Violence = { crash: 0, drainMs: 15_000 },
  seed: number = SEED,
): Promise<SoakReport> {
  const folder = await mkdtemp(join(tmpdir(), 'surety-mini-soak-'));
  const store = createMemoryStore({});
  const open = async (): Promise<Backend> => plant(withWeather(memory({ store })));
  const place = {
    backend: 'memory',
    where: 'memory',
    open,
    server: null,
    road: null,
    service: null,
    connections: null,
    held: null,
    [Symbol.asyncDispose]: async () => undefined,
  };
  try {
    return await soak({
      place,
      jobs: JOBS,
      forMs: 6000,
      seed,
      faults: FAULTS,
      mix: { ...SHORT_MIX, crash },
      workers: 3,
      producers: 2,
      leaseMs: 1000,
      longestDelayMs: 1500,
      drainMs,
      folder,
      start: () => async (task) => startLocalActor(task, await open()),
      progress: { update: () => undefined, print: () => undefined },
      signal: new AbortController().signal,
      versions: {},
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Now and then an item of a list fails alone, and an answer is lost of a call that was not done. */
function withWeather(backend: Backend): Backend {
  let calls = 0;
  return override(backend, {
    async enqueue(jobs, options) {
      calls += 1;
      if (calls % 7 === 0) throw new SuretyError('OUTCOME_UNKNOWN', 'Planned.');
      const [first, ...others] = jobs;
      if (first === undefined || others.length === 0 || calls % 5 !== 0)
        return backend.enqueue(jobs, options);
      const error = new SuretyError('BACKEND_UNAVAILABLE', 'Planned.', { jobId: first.id });
      const stored = await backend.enqueue(others, options);
      return [{ status: 'rejected', id: first.id, error }, ...stored];
    },
  });
}

/** An actor in this process: between it and the store is a gate, so that it can be cut off as if it were frozen or dead. */
async function startLocalActor(task: ActorTask, backend: Backend): Promise<Actor> {
  const gate = new Gate();
  const { promise: exited, resolve } = Promise.withResolvers<void>();
  let isRunning = true;
  const kill = async (): Promise<void> => {
    gate.shut();
    // Connections end with a process. It still thinks that it lives; nothing of what it does reaches the store.
    await backend.close({ graceMs: 0 });
    void stop().catch(() => undefined);
  };
  const part = await startPart(task, gated(backend, gate), () => void kill());
  const stop = async (): Promise<void> => {
    if (!isRunning) return;
    isRunning = false;
    resolve();
    await part.stop();
  };
  return {
    task,
    get state() {
      return { ...NO_STATE, accepted: part.accepted, attempts: part.attempts, isDone: part.isDone };
    },
    get running() {
      return isRunning;
    },
    exited,
    kill,
    freeze: () => gate.hold(),
    thaw: () => gate.open(),
    setClock: () => undefined,
    stop,
  };
}

class Gate {
  #state: 'open' | 'held' | 'shut' = 'open';
  #waiting: (() => void)[] = [];

  /** Resolves when calls may pass; throws when they never will. */
  async pass(): Promise<void> {
    if (this.#state === 'held') await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#state === 'shut') throw new SuretyError('OUTCOME_UNKNOWN', 'Cut off.');
  }

  hold(): void {
    if (this.#state === 'open') this.#state = 'held';
  }

  open(): void {
    if (this.#state === 'held') this.#state = 'open';
    for (const go of this.#waiting.splice(0)) go();
  }

  shut(): void {
    this.#state = 'shut';
    this.open();
  }
}

function gated(backend: Backend, gate: Gate): Backend {
  const behind =
    <Args extends unknown[], T>(call: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      await gate.pass();
      return call(...args);
    };
  const { settleAndClaim } = backend;
  return override(backend, {
    enqueue: behind((...args) => backend.enqueue(...args)),
    claim: behind((...args) => backend.claim(...args)),
    renew: behind((...args) => backend.renew(...args)),
    settle: behind((...args) => backend.settle(...args)),
    ...(settleAndClaim !== undefined && {
      settleAndClaim: behind((...args) => settleAndClaim.call(backend, ...args)),
    }),
  });
}
