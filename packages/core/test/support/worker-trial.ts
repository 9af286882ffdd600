import { createWorker, type Worker, type WorkerEvents, type WorkerOptions } from '@surety/core';
import type { Backend } from '@surety/core/contract';
import { vi } from 'vitest';

const NAMES = [
  'started',
  'attempt',
  'dead',
  'lease-lost',
  'zombie',
  'paused',
  'resumed',
  'degraded',
  'recovered',
  'notice',
  'age-alert',
  'state',
] as const satisfies readonly (keyof WorkerEvents)[];

/** A worker under test with all its events. */
export interface Trial {
  readonly worker: Worker;
  /** Names in order. */
  readonly order: string[];
  readonly of: <Name extends keyof WorkerEvents>(name: Name) => readonly WorkerEvents[Name][];
}

/** A worker that logs nothing and records every event. */
export function trial(options: Omit<WorkerOptions, 'backend'> & { readonly backend: Backend }): Trial {
  const worker = createWorker({ log: 'none', ...options });
  const order: string[] = [];
  const seen = new Map<string, unknown[]>();
  for (const name of NAMES) {
    seen.set(name, []);
    worker.on(name, (event) => {
      order.push(name);
      seen.get(name)?.push(event);
    });
  }
  return {
    worker,
    order,
    of: <Name extends keyof WorkerEvents>(name: Name) => (seen.get(name) ?? []) as WorkerEvents[Name][],
  };
}

/** A promise with its ends in hand. */
export function deferred<Value = void>(): {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
} {
  return Promise.withResolvers<Value>();
}

/** Waits in real time until it holds. The limit only ends a test that would never end. */
export async function eventually(holds: () => boolean, what: string): Promise<void> {
  await vi.waitFor(
    () => {
      if (!holds()) throw new Error(`never happened: ${what}`);
    },
    { timeout: 40_000, interval: 5 },
  );
}

/** From now on timers and both clocks stand still until `pass`; they begin at an hour, as no process reads 0. */
export function stopTime(): void {
  vi.useFakeTimers({
    toFake: [
      'setTimeout',
      'clearTimeout',
      'setInterval',
      'clearInterval',
      'setImmediate',
      'clearImmediate',
      'performance',
      'Date',
    ],
  });
  vi.advanceTimersByTime(3_600_000);
}

/** Lets time pass, with everything that happens in it. */
export async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
}

/** Stops a worker while time stands still. */
export async function stopNow(worker: Worker, options: Parameters<Worker['stop']>[0] = {}): Promise<void> {
  const stopped = worker.stop(options);
  await pass(60_000);
  await stopped;
}
