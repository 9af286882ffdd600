import { types } from 'node:util';
import { SuretyError } from '../errors/index.ts';
import { messageOf } from '../errors/message-of.ts';
import { shown } from '../options/duration.ts';
import { isPlainObject } from '../options/plain-object.ts';

/**
 * The text of one JSON.stringify, stored and handed on verbatim. Refuses what JSON would change in silence or I-JSON
 * (RFC 7493) rules out. Throws PAYLOAD_NOT_SUPPORTED.
 *
 * Refused, at any depth: bigints, functions, symbols, NaN and infinities, invalid dates, lone surrogates (in values and in names),
 * cycles, `undefined` or a hole in an array, Map, Set, Error, RegExp, Promise, boxed primitives, binary data (Buffer, typed arrays,
 * ArrayBuffer), and every instance of a class in which JSON sees nothing (URLSearchParams, a class with private fields only).
 *
 * Written as JSON does: `toJSON` counts (a Date becomes its ISO text); an instance with own properties becomes a plain object; a
 * property that is undefined or named by a symbol is left out; -0 becomes 0.
 */
export function payloadText(value: unknown): string {
  let text: string | undefined;
  try {
    text = isPlain(value, 0) ? JSON.stringify(value) : JSON.stringify(value, refuseForeign);
  } catch (error) {
    const refused = Refused.reasonOf(error);
    throw refused === null ? refusal(reasonOf(error), error) : refusal(refused, undefined);
  }
  if (text === undefined) throw refusal(`${shown(value)} has no JSON form`, undefined);
  return text;
}

/** Deeper than payloads are; what refers to itself ends here too. */
const PLAIN_DEPTH = 16;

/**
 * Whether a value is made of nothing but what JSON keeps. Most payloads are, and a look at them costs a third of what a replacer
 * does. False says nothing: the replacer decides, and names what it refuses.
 */
function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed();
    case 'number':
      return Number.isFinite(value);
    case 'boolean':
      return true;
    case 'object':
      return value === null || (depth < PLAIN_DEPTH && holdsPlain(value, depth + 1));
    default:
      return false;
  }
}

function holdsPlain(value: object, depth: number): boolean {
  if (Array.isArray(value)) {
    if ('toJSON' in value) return false;
    for (const item of value) if (!isPlain(item, depth)) return false;
    return true;
  }
  if (!isPlainObject(value) || 'toJSON' in value) return false;
  for (const name in value) {
    if (!name.isWellFormed() || !isPlain((value as Record<string, unknown>)[name], depth)) return false;
  }
  return true;
}

/** What the replacer found; kept apart from what the payload itself threw. */
class Refused {
  readonly #reason: string;
  constructor(reason: string) {
    this.#reason = reason;
  }

  /** Null for anything else. Asks no prototype: what was thrown may be a Proxy whose traps throw too. */
  static reasonOf(thrown: unknown): string | null {
    return typeof thrown === 'object' && thrown !== null && #reason in thrown ? thrown.#reason : null;
  }
}

function refusal(reason: string, cause: unknown): SuretyError {
  return new SuretyError('PAYLOAD_NOT_SUPPORTED', `The payload cannot be stored: ${reason}.`, { cause });
}

function reasonOf(error: unknown): string {
  const message = messageOf(error);
  if (message === 'Maximum call stack size exceeded') return 'it is nested too deeply';
  if (message.startsWith('Converting circular structure')) return 'it refers to itself';
  return `reading it threw: ${message}`;
}

/** A replacer sees each value after toJSON; `this[key]` is the value before. */
function refuseForeign(this: unknown, key: string, value: unknown): unknown {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw new Refused(`${place(key)} holds a lone surrogate`);
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Refused(`${place(key)} is ${value}`);
  } else if (typeof value === 'object') {
    refuseObject((this as Record<string, unknown>)[key], key, value);
  } else if (typeof value === 'undefined') {
    if (Array.isArray(this)) throw new Refused(`${place(key)} of an array is undefined`);
  } else if (typeof value !== 'boolean') {
    throw new Refused(`${place(key)} is a ${typeof value}`);
  }
  if (!key.isWellFormed()) throw new Refused('a property name holds a lone surrogate');
  return value;
}

function refuseObject(before: unknown, key: string, value: object | null): void {
  if (value === null) {
    if (types.isDate(before)) throw new Refused(`${place(key)} is an invalid date`);
    return;
  }
  // A Buffer has a toJSON, which makes a list of numbers of it, four times as large, that nothing turns back.
  if (ArrayBuffer.isView(before)) throw new Refused(`${place(key)} is binary data; send it as base64 text`);
  if (Array.isArray(value) || isPlainObject(value)) return;
  if (hidesFromJson(value))
    throw new Refused(`${place(key)} is a ${className(value)}, which JSON would empty`);
}

/** Objects that keep what they hold where JSON does not look; what JSON sees of them (an error's `code`) is not the whole. */
function hidesFromJson(value: object): boolean {
  return (
    Object.keys(value).length === 0 ||
    types.isMap(value) ||
    types.isSet(value) ||
    types.isNativeError(value) ||
    types.isBoxedPrimitive(value) ||
    types.isAnyArrayBuffer(value) ||
    types.isPromise(value) ||
    types.isRegExp(value)
  );
}

function className(value: object): string {
  const { constructor } = value as { constructor?: { name?: unknown } };
  const name = constructor?.name;
  return typeof name === 'string' && name !== '' ? name.slice(0, 60) : 'class instance';
}

function place(key: string): string {
  return key === '' ? 'it' : `property ${JSON.stringify(key.slice(0, 60))}`;
}
