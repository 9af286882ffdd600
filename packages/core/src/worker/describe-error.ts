import type { JobError } from '../contract/index.ts';
import { type ErrorCode, isSuretyError } from '../errors/index.ts';

/** UTF-16 units kept of a message and of a stack; as UTF-8 the whole stays under 8 KiB even if every unit takes three bytes. */
const MESSAGE_UNITS = 900;
const STACK_UNITS = 1500;
const MAX_BYTES = 8192;

/**
 * What goes into a job's history of whatever was thrown, also `undefined`, a string, or an object whose getters throw. Bounded,
 * cut between characters, never empty.
 */
export function describeError(thrown: unknown, attempt: number, code: ErrorCode): JobError {
  try {
    return fitted(described(thrown, attempt, code));
  } catch {
    // A getter or toString of the thrown value threw: its class of fault is all that can be told.
    return { code, name: 'Unreadable', message: 'the thrown value cannot be read', stack: null, attempt };
  }
}

function described(thrown: unknown, attempt: number, code: ErrorCode): JobError {
  if (thrown instanceof Error || (typeof thrown === 'object' && thrown !== null && 'message' in thrown)) {
    const error = thrown as Error;
    return {
      code: isSuretyError(error) ? error.code : code,
      name: cut(String(error.name || 'Error'), 100),
      message: cut(String(error.message), MESSAGE_UNITS),
      stack: typeof error.stack === 'string' ? cut(error.stack, STACK_UNITS) : null,
      attempt,
    };
  }
  const text = typeof thrown === 'string' ? thrown : `threw ${String(thrown)}`;
  return {
    code,
    name: thrown === null ? 'null' : typeof thrown,
    message: cut(text, MESSAGE_UNITS),
    stack: null,
    attempt,
  };
}

/** Text that JSON must escape takes up to six bytes a unit: then less of it is kept. */
function fitted(error: JobError): JobError {
  if (Buffer.byteLength(JSON.stringify(error)) <= MAX_BYTES) return error;
  return {
    ...error,
    message: cut(error.message, MESSAGE_UNITS / 3),
    stack: cut(error.stack ?? '', STACK_UNITS / 3),
  };
}

/** The message of whatever was thrown; never throws itself. For logs and events. */
export function messageOf(thrown: unknown): string {
  return describeError(thrown, 0, 'INTERNAL').message;
}

/** The code of an error of Surety, null of anything else; never throws itself. */
export function codeOf(thrown: unknown): ErrorCode | null {
  try {
    return isSuretyError(thrown) ? thrown.code : null;
  } catch {
    return null;
  }
}

/** Shortens without leaving half a surrogate pair; lone surrogates become U+FFFD and NUL is spelt out, since not every store holds them. */
function cut(text: string, units: number): string {
  const short = text.length > units ? `${text.slice(0, units)}…` : text;
  return short.toWellFormed().replaceAll('\u0000', '\\0');
}
