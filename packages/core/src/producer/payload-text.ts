import { SuretyError } from '../errors/index.ts';
import { shown } from '../options/duration.ts';

/**
 * The text of one JSON.stringify, stored and handed on verbatim. Refuses what JSON would change in silence or I-JSON
 * (RFC 7493) rules out: functions, symbols, bigints, NaN and infinities, invalid dates, Map and Set, undefined in arrays, lone
 * surrogates, cycles. An undefined property is left out, as JSON does. Throws PAYLOAD_NOT_SUPPORTED.
 */
export function payloadText(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, refuseForeign);
  } catch (error) {
    throw refusal(reasonOf(error), error);
  }
  if (text === undefined) throw refusal(`${shown(value)} has no JSON form`, undefined);
  return text;
}

/** What a replacer found; kept apart from errors of the payload's own toJSON. */
class Refused {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

function refusal(reason: string, cause: unknown): SuretyError {
  return new SuretyError('PAYLOAD_NOT_SUPPORTED', `The payload cannot be stored: ${reason}.`, { cause });
}

function reasonOf(error: unknown): string {
  if (error instanceof Refused) return error.reason;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof RangeError) return 'it is nested too deeply';
  if (/circular|cyclic/i.test(message)) return 'it refers to itself';
  return `reading it threw: ${message.slice(0, 200)}`;
}

/** A replacer sees each value after toJSON; `this[key]` is the value before. */
function refuseForeign(this: unknown, key: string, value: unknown): unknown {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw new Refused(`${place(key)} holds a lone surrogate`);
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Refused(`${place(key)} is ${value}`);
  } else if (typeof value === 'object') {
    refuseObject(this, key, value);
  } else if (typeof value === 'undefined') {
    if (Array.isArray(this)) throw new Refused(`${place(key)} of an array is undefined`);
  } else if (typeof value !== 'boolean') {
    throw new Refused(`${place(key)} is a ${typeof value}`);
  }
  if (key !== '' && !key.isWellFormed()) throw new Refused('a property name holds a lone surrogate');
  return value;
}

function refuseObject(holder: unknown, key: string, value: object | null): void {
  if (value === null) {
    const before = (holder as Record<string, unknown>)[key];
    if (before instanceof Date) throw new Refused(`${place(key)} is an invalid date`);
    return;
  }
  if (value instanceof Map || value instanceof Set || value instanceof WeakMap || value instanceof WeakSet) {
    throw new Refused(`${place(key)} is a ${value.constructor.name}, which JSON would empty`);
  }
}

function place(key: string): string {
  return key === '' ? 'it' : `property ${JSON.stringify(key.slice(0, 60))}`;
}
