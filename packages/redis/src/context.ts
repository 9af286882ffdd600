import type { CallOptions, Notice } from '@surety/core/contract';
import { type ErrorCode, SuretyError } from '@surety/core/errors';
import type { Connection } from './connection.ts';
import type { Call } from './deadline.ts';
import type { Listener } from './listener.ts';
import type { ResolvedOptions } from './options.ts';
import type { QueueStates } from './queue-state.ts';

/** What the operations of one backend share. */
export interface Context {
  readonly options: ResolvedOptions;
  /** New with every `open` after a `close`, as are the three after it: do not keep them. */
  connection: Connection;
  /** For enqueues that wait for more than the server's answer: while they wait, their connection stands still. */
  confirming: Connection | null;
  listener: Listener;
  /** Aborts when the backend is closed. */
  closing: AbortSignal;
  readonly queues: QueueStates;
  lastClaimAt: number | null;
  lastRenewAt: number | null;
  notify(notice: Notice): void;
}

/** The deadline of a call. */
export function startCall(operation: string, options: CallOptions): Call {
  return { operation, deadline: performance.now() + options.timeoutMs };
}

/** An error of this adapter. */
export function failure(
  code: ErrorCode,
  what: string,
  operation: string,
  jobId: string | null = null,
): SuretyError {
  return new SuretyError(code, what, { adapter: 'redis', operation, jobId });
}
