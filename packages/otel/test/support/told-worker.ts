import type { AttemptEvent, Worker, WorkerEvents } from '@surety/core';

/** Stands in for a worker: tells what a test says. */
export interface ToldWorker extends Pick<Worker, 'on'> {
  readonly listeners: () => number;
  tell<Name extends keyof WorkerEvents>(name: Name, event: WorkerEvents[Name]): void;
}

export function toldWorker(): ToldWorker {
  const listeners = new Map<string, Set<(event: never) => unknown>>();
  return {
    on(name, listener) {
      const all = listeners.get(name) ?? new Set();
      listeners.set(name, all.add(listener));
      return () => void all.delete(listener);
    },
    listeners: () => [...listeners.values()].reduce((sum, all) => sum + all.size, 0),
    tell(name, event) {
      for (const listener of listeners.get(name) ?? []) listener(event as never);
    },
  };
}

/** The end of an attempt that completed, but for what is given. */
export function attemptEvent(given: Partial<AttemptEvent> = {}): AttemptEvent {
  return {
    jobId: '01890a5d-ac96-774b-bcce-b302099a8057',
    type: 'receipt.send',
    queue: 'mail',
    attempt: 1,
    outcome: 'completed',
    durationMs: 20,
    waitMs: 100,
    errorClass: null,
    code: null,
    message: null,
    ...given,
  };
}
