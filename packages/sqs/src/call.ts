import type { CallOptions } from '@surety/core/contract';
import { type ErrorCode, type ErrorDetails, SuretyError } from '@surety/core/errors';

/** Name of the adapter in errors. */
export const ADAPTER = 'sqs';
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

/** `unknown`: it may have been done all the same. */
export function timedOut(operation: string, retryable: 'yes' | 'unknown' = 'yes'): SuretyError {
  return failure('BACKEND_TIMEOUT', 'SQS did not answer in time.', operation, { retryable });
}

export function closedError(operation: string): SuretyError {
  return failure('BACKEND_CLOSED', 'The SQS backend was closed.', operation);
}

/** Marks a deadline that came first. */
export const LATE: unique symbol = Symbol('late');

/** The value, or `LATE` when the deadline (`performance.now()`) comes first; the late end of the work is then nobody's. */
export function within<T>(work: Promise<T>, deadline: number): Promise<T | typeof LATE> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(LATE), timerMs(deadline));
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

/** What a timer has to be set to for a deadline. */
export function timerMs(deadline: number): number {
  return Math.max(0, Math.min(deadline - performance.now(), MAX_TIMER_MS));
}
