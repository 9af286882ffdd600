import { setTimeout as sleep } from 'node:timers/promises';
import type { Contestant } from '../contestants/contestant.ts';
import { Seen } from './seen.ts';

export interface WorkRequest {
  readonly location: string;
  readonly concurrency: number;
  /** The numbers of all jobs are below it. */
  readonly numbers: number;
  /** The work is done when so many different jobs have been handled. */
  readonly target: number;
  /** Then go on until the store holds no job. */
  readonly untilEmpty: boolean;
  /** How long the handlers may take in all, and how long the store may then still hold a job. */
  readonly limitMs: number;
  readonly completionLimitMs: number;
}

/** What one process saw of its work. Instants are on the clock of the machine, which all processes share. */
export interface WorkResult {
  /** When the worker ran, by what it says, or with its first job if that came before: to connect is not to work. */
  readonly startedAt: number;
  /** When the target was reached or the time was over. */
  readonly handledAt: number;
  /** When the store said that no job is left; `handledAt` where that was not asked, or there was no more time. */
  readonly endedAt: number;
  /** Different jobs handled until `handledAt`. */
  readonly handled: number;
  /** Until the worker had stopped: starts of the handler, and the jobs they were for, as `Seen.text`. */
  readonly starts: number;
  readonly seen: string;
  readonly cut: boolean;
  /** True also where it was not asked. */
  readonly emptied: boolean;
  /** CPU time of this process from before the start of the worker to `endedAt`, in microseconds. */
  readonly cpuUs: number;
  /** The most memory that this process has had so far. */
  readonly peakBytes: number;
}

/** Between two looks at the store once all handlers have run: short beside a run, long beside a look. */
const LOOK_EVERY_MS = 2;

/** One worker at work. Runs in the process that is measured. */
export class Work {
  readonly #contestant: Contestant;
  readonly #request: WorkRequest;
  readonly #seen: Seen;
  readonly #done = Promise.withResolvers<void>();
  readonly #started = Promise.withResolvers<void>();

  constructor(contestant: Contestant, request: WorkRequest) {
    this.#contestant = contestant;
    this.#request = request;
    this.#seen = new Seen(request.numbers);
  }

  /** Resolves once the worker runs. */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  /** Different jobs handled so far. */
  get handled(): number {
    return this.#seen.distinct;
  }

  /** As if the target were reached: for a worker that has only a part in it. */
  finish(): void {
    this.#done.resolve();
  }

  async run(): Promise<WorkResult> {
    const { location, concurrency, target, limitMs, untilEmpty } = this.#request;
    const observer = await this.#contestant.observe(location);
    const cpuBefore = process.cpuUsage();
    let firstAt = Number.POSITIVE_INFINITY;
    const worker = await this.#contestant.startWorker(location, {
      concurrency,
      handler: async ({ n }) => {
        if (this.#seen.starts === 0) firstAt = now();
        this.#seen.add(n);
        if (this.#seen.distinct === target) this.#done.resolve();
      },
    });
    const startedAt = Math.min(firstAt, now());
    this.#started.resolve();
    const cut = !(await within(this.#done.promise, limitMs));
    const handledAt = now();
    const handled = this.#seen.distinct;
    const asked = untilEmpty && !cut;
    const emptied = asked ? await this.#emptied(() => observer.isEmpty()) : true;
    const endedAt = asked ? now() : handledAt;
    const { user, system } = process.cpuUsage(cpuBefore);

    await worker.stop();
    await observer.close();
    return {
      startedAt,
      handledAt,
      endedAt,
      handled,
      starts: this.#seen.starts,
      seen: this.#seen.text(),
      cut,
      emptied,
      cpuUs: user + system,
      // In kilobytes there.
      peakBytes: process.resourceUsage().maxRSS * 1024,
    };
  }

  async #emptied(isEmpty: () => Promise<boolean>): Promise<boolean> {
    const deadline = now() + this.#request.completionLimitMs;
    for (;;) {
      if (await isEmpty()) return true;
      if (now() > deadline) return false;
      await sleep(LOOK_EVERY_MS);
    }
  }
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

/** False when the time was over before. */
async function within(promise: Promise<void>, limitMs: number): Promise<boolean> {
  const timer = Promise.withResolvers<boolean>();
  const timeout = setTimeout(() => timer.resolve(false), limitMs);
  const inTime = await Promise.race([promise.then(() => true), timer.promise]);
  clearTimeout(timeout);
  return inTime;
}
