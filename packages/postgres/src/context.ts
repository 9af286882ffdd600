import type { CallOptions, Notice } from '@surety/core/contract';
import { type ErrorCode, SuretyError } from '@surety/core/errors';
import type { Connections } from './connection.ts';
import type { Call } from './deadline.ts';
import type { HeldClaims } from './held-claims.ts';
import type { Listener } from './listener.ts';
import type { ResolvedOptions } from './options.ts';
import type { QueueStates } from './queue-state.ts';
import type { Sql } from './sql.ts';

/** What the operations of one backend share. */
export interface Context {
  readonly options: ResolvedOptions;
  readonly sql: Sql;
  /** New with every `open` after a `close`, as are the two after it: do not keep them. */
  connections: Connections;
  listener: Listener;
  /** Aborts when the backend is closed. */
  closing: AbortSignal;
  readonly queues: QueueStates;
  readonly held: HeldClaims;
  readonly channel: string;
  /** Whether enqueues may notify at all. Turned off when the server refuses it; polling stands behind it. */
  mayNotify: boolean;
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
  return new SuretyError(code, what, { adapter: 'postgres', operation, jobId });
}
