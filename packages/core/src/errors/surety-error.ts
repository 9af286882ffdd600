import type { ContractError } from '../contract/index.ts';
import { type CodeFacts, ERROR_CODES, type ErrorCode, type Retryable } from './codes.ts';

/** Registered, so that two copies of the package know each other's errors, where `instanceof` fails. */
const BRAND = Symbol.for('surety.error');

/** Optional facts of an error. */
export interface ErrorDetails {
  readonly adapter?: string | null;
  readonly operation?: string | null;
  readonly jobId?: string | null;
  readonly cause?: unknown;
  readonly retryable?: Retryable;
  /** What to do, in place of the code's general remedy. */
  readonly remedy?: string;
}

/**
 * The one error class. Act on `code`, not on the message. The message says what happened, then what to do.
 * The native error, if any, is the `cause`.
 */
export class SuretyError extends Error implements ContractError {
  override readonly name = 'SuretyError';
  readonly code: ErrorCode;
  readonly retryable: Retryable;
  readonly remedy: string;
  readonly adapter: string | null;
  readonly operation: string | null;
  readonly jobId: string | null;

  constructor(code: ErrorCode, what: string, details: ErrorDetails = {}) {
    // A newer copy of the package may hand on a code that this one does not know.
    const facts: CodeFacts | undefined = ERROR_CODES[code];
    const remedy = details.remedy ?? facts?.remedy ?? '';
    super(
      remedy === '' ? what : `${what} ${remedy}`,
      details.cause === undefined ? undefined : { cause: details.cause },
    );
    Object.defineProperty(this, BRAND, { value: true });
    this.code = code;
    this.remedy = remedy;
    this.retryable = details.retryable ?? facts?.retryable ?? 'unknown';
    this.adapter = details.adapter ?? null;
    this.operation = details.operation ?? null;
    this.jobId = details.jobId ?? null;
  }

  /** For logs: everything but the stack and the cause's insides. */
  toJSON(): Record<string, unknown> {
    const { code, message, retryable, adapter, operation, jobId } = this;
    return { name: this.name, code, message, retryable, adapter, operation, jobId };
  }
}

/** Whether a value is an error of Surety, also one of another copy of the package. Never throws, whatever was thrown. */
export function isSuretyError(value: unknown): value is SuretyError {
  try {
    return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[BRAND] === true;
  } catch {
    return false;
  }
}
