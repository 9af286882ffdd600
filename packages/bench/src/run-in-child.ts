import { startChild } from '@surety/testbed';
import type { BackendName } from './contestants/registry.ts';
import type { Store } from './stores/store.ts';
import type { Measured } from './suites/drain.ts';
import type { DrainRequest, DrainResult } from './suites/time-drain.ts';

/** What a call to the child carries. */
export interface ChildDrain extends DrainRequest {
  readonly backend: BackendName;
  readonly contestant: string;
}

export interface MeasuredDrain {
  readonly backend: BackendName;
  readonly contestant: string;
  readonly store: Store;
  readonly warmUp: Work;
  readonly drain: Work;
}

type Work = Omit<DrainRequest, 'limitMs' | 'completionLimitMs'>;

/** A worker that does less than 500 jobs a second is given up. */
const LIMIT_MS_PER_JOB = 2;
const LIMIT_MS = 30_000;
/** Far more than any batch or timer of a contestant holds a completion back. */
const COMPLETION_LIMIT_MS = 20_000;
/** For the stop of the worker after a drain. */
const STOP_MS = 60_000;

/** In a fresh process: the warm-up, then, once the store is quiet, the drain that counts. */
export async function drainInChild(request: MeasuredDrain): Promise<Measured> {
  const { backend, contestant, store } = request;
  // The documented way to save graphile-worker its line per job; nothing else reads it.
  const child = await startChild(new URL('./child.ts', import.meta.url), { env: { NO_LOG_SUCCESS: '1' } });
  const drain = (work: Work): Promise<DrainResult> => {
    const limitMs = LIMIT_MS + work.jobs * LIMIT_MS_PER_JOB;
    const limits = { limitMs, completionLimitMs: COMPLETION_LIMIT_MS };
    const params: ChildDrain = { ...work, ...limits, backend, contestant };
    return child.call<DrainResult>('drain', params, limitMs + COMPLETION_LIMIT_MS + STOP_MS);
  };
  try {
    await drain(request.warmUp);
    await store.settle(request.drain.location);
    const before = await store.cpuUs();
    const result = await drain(request.drain);
    const after = await store.cpuUs();
    return { result, serverCpuUs: before === null || after === null ? null : after - before };
  } finally {
    await child.end();
  }
}
