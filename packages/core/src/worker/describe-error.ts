import type { JobError } from '../contract/index.ts';
import { type ErrorCode, isSuretyError } from '../errors/index.ts';

/** UTF-16 units kept of a message and of a stack; as UTF-8 JSON the whole stays under 8 KiB even if every unit takes three bytes. */
const MESSAGE_UNITS = 900;
const STACK_UNITS = 1500;

/**
 * What goes into a job's history of whatever was thrown, also `undefined`, a string, or an object whose getters throw. Bounded,
 * cut between characters, never empty.
 */
export function describeError(thrown: unknown, attempt: number, code: ErrorCode): JobError {
  try {
    return described(thrown, attempt, code);
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

/** Shortens without leaving half a surrogate pair; lone surrogates become U+FFFD and NUL is spelt out, since not every store holds them. */
function cut(text: string, units: number): string {
  const short = text.length > units ? `${text.slice(0, units)}…` : text;
  return short.toWellFormed().replaceAll('\u0000', '\\0');
}
