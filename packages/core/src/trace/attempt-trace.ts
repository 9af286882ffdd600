import type { Lease } from '../contract/index.ts';
import type { Trace } from './trace-file.ts';
import { leaseNumber } from './traced-backend.ts';

/** What a worker allows, as far as a trace tells it. */
interface Limited {
  readonly definition: { readonly type: string; readonly retry: { readonly maxAttempts: number } };
}

/** What handlers do, in a trace. */
export interface AttemptTrace {
  started(lease: Lease): void;
  /** In the file when it returns. Throws BACKEND_UNAVAILABLE when it cannot be: then the effect must not be done either. */
  effect(lease: Lease, name: string): void;
}

/** Notes what the handlers allow, once, and then each start and effect. */
export function attemptTrace(trace: Trace, handlers: Iterable<Limited>): AttemptTrace {
  const limits: Record<string, number> = {};
  for (const { definition } of handlers) limits[definition.type] = definition.retry.maxAttempts;
  trace.record({ kind: 'worker', limits }, 'before');
  return {
    started: (lease) => recordStart(trace, lease),
    effect: (lease, name) => recordEffect(trace, lease, name),
  };
}

/** Notes that a job starts. For code that claims by itself through a traced backend; a worker does it. */
export function recordStart(trace: Trace, lease: Lease): void {
  trace.record({ kind: 'start', lease: leaseNumber(lease), id: lease.id }, 'after');
}

/** Notes that something outside is about to be done for a job. As {@link recordStart}; a handler calls `ctx.effect`. */
export function recordEffect(trace: Trace, lease: Lease, name: string): void {
  trace.record({ kind: 'effect', lease: leaseNumber(lease), id: lease.id, name: String(name) }, 'before');
}
