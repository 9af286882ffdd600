import type {
  Backend,
  CallOptions,
  Capabilities,
  EnqueueOutcome,
  NewJob,
  OpenOptions,
  Transactional,
} from '@surety/core';
import { memory } from '@surety/memory';

type Enqueue = (jobs: readonly NewJob[], options: CallOptions) => Promise<readonly EnqueueOutcome[]>;

/** What a scripted backend does; what is left out answers at once and well. */
export interface Script {
  readonly capabilities?: Partial<Capabilities>;
  readonly contractVersion?: number;
  readonly open?: (options: OpenOptions) => Promise<void>;
  readonly close?: (options: { readonly graceMs: number }) => Promise<void>;
  readonly enqueue?: Enqueue;
  readonly transactional?: Transactional;
}

/** One call of `enqueue`. */
interface EnqueueCallSeen {
  readonly jobs: readonly NewJob[];
  readonly timeoutMs: number;
}

/** A backend that does what its script says, and what was asked of it. */
export interface ScriptedBackend {
  readonly backend: Backend;
  readonly calls: EnqueueCallSeen[];
  /** Every verb that reached it, in order. */
  readonly seen: string[];
  mostInFlight: number;
}

export function scriptedBackend(script: Script = {}): ScriptedBackend {
  let inFlight = 0;
  const unscripted = (): never => {
    throw new Error('The script has no such verb.');
  };
  const backend: Backend = {
    name: 'scripted',
    contractVersion: script.contractVersion ?? 1,
    // Each call costs a sync, as in most stores.
    capabilities: { ...memory().capabilities, durability: 'fsync', ...script.capabilities },
    async open(options) {
      scripted.seen.push('open');
      await script.open?.(options);
    },
    async close(options) {
      scripted.seen.push('close');
      await script.close?.(options);
    },
    async enqueue(jobs, options) {
      scripted.seen.push('enqueue');
      scripted.calls.push({ jobs, timeoutMs: options.timeoutMs });
      inFlight += 1;
      scripted.mostInFlight = Math.max(scripted.mostInFlight, inFlight);
      try {
        return await (script.enqueue ?? acceptAll)(jobs, options);
      } finally {
        inFlight -= 1;
      }
    },
    health: unscripted,
    claim: unscripted,
    renew: unscripted,
    settle: unscripted,
    counts: unscripted,
    queues: unscripted,
    deadLetters: { list: unscripted, show: unscripted, redrive: unscripted, discard: unscripted },
    pacing: { pause: unscripted, resume: unscripted, state: unscripted },
    ...(script.transactional === undefined ? {} : { transactional: script.transactional }),
  };
  const scripted: ScriptedBackend = { backend, calls: [], seen: [], mostInFlight: 0 };
  return scripted;
}

export const accepted = ({ id }: NewJob): EnqueueOutcome => ({ status: 'accepted', id });
const acceptAll: Enqueue = (jobs) => Promise.resolve(jobs.map(accepted));
export const hang = (): Promise<never> => new Promise(() => undefined);

/** A call that ends when the test says so. */
export function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}
