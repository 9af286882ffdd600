import type { AttemptEvent } from '@surety/core';
import { ERROR_CODES } from '@surety/core/errors';
import { type BoundedNames, OTHER } from './bounded-names.ts';

/** What a class is called. Names that are put together at run time, with ids or messages in them, rarely look like this. */
const CLASS_NAME = /^[A-Za-z_$][A-Za-z0-9_$.]{0,63}$/;
/** Codes that say only that the handler threw: the class of what it threw says more. */
const THROWN: ReadonlySet<string> = new Set(['HANDLER_FAILED', 'PERMANENT_FAILURE']);

/** The `error.type` of an attempt, null when it did not fail. */
export function errorTypeOf(event: AttemptEvent, classes: BoundedNames): string | null {
  if (event.outcome === 'lease-lost') return 'LEASE_LOST';
  if (event.outcome === 'unknown') return 'OUTCOME_UNKNOWN';
  if (event.code === null) return null;
  if (THROWN.has(event.code)) return className(event.errorClass, classes);
  return codeLabel(event.code);
}

/** The codes are a closed set, so that no flood of class names can push one of them out. */
export function codeLabel(code: string): string {
  return Object.hasOwn(ERROR_CODES, code) ? code : OTHER;
}

function className(name: string | null, classes: BoundedNames): string {
  return name !== null && CLASS_NAME.test(name) ? classes.label(name) : OTHER;
}
