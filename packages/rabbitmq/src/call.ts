import type { CallOptions } from '@surety/core/contract';
import { type ErrorCode, type ErrorDetails, SuretyError } from '@surety/core/errors';

/** Name of the adapter in errors. */
export const ADAPTER = 'rabbitmq';
/** The longest timer that Node can set. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Which call something belongs to. */
export interface Call {
  readonly operation: string;
  /** `performance.now()` at which the call has to have ended. */
  readonly deadline: number;
}

export function startCall(operation: string, options: CallOptions): Call {
  return { operation, deadline: performance.now() + options.timeoutMs };
}

/** An error of this adapter. */
export function failure(
  code: ErrorCode,
  what: string,
  operation: string,
  details: ErrorDetails = {},
): SuretyError {
  return new SuretyError(code, what, { adapter: ADAPTER, operation, ...details });
}

export function timedOut(call: Call): SuretyError {
  return failure('BACKEND_TIMEOUT', 'RabbitMQ did not answer in time.', call.operation);
}

export function closedError(operation: string): SuretyError {
  return failure('BACKEND_CLOSED', 'The RabbitMQ backend was closed.', operation);
}

/** Marks a deadline that came first. */
export const LATE: unique symbol = Symbol('late');

/** The value, or `LATE` when the deadline (`performance.now()`) comes first; the late end of the work is then nobody's. */
export function within<T>(work: Promise<T>, deadline: number): Promise<T | typeof LATE> {
  return new Promise((resolve, reject) => {
    const leftMs = Math.max(0, Math.min(deadline - performance.now(), MAX_TIMER_MS));
    const timer = setTimeout(() => resolve(LATE), leftMs);
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
