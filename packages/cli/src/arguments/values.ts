import { JOB_ID, JOB_TYPE, QUEUE_NAME } from '@surety/core/contract';
import type { Invocation } from '../command.ts';
import { UsageError } from '../exit-codes.ts';

type Values = Invocation['values'];

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** The longest timer that Node can set. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function flag(values: Values, name: string): boolean {
  return values[name] === true;
}

export function text(values: Values, name: string): string | null {
  const value = values[name];
  return typeof value === 'string' ? value : null;
}

/** A duration, `500ms`, `2s`, `5m`, from 1 ms to what a timer can hold. */
export function duration(values: Values, name: string, fallbackMs: number): number {
  const given = text(values, name);
  if (given === null) return fallbackMs;
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(given) ?? [];
  const ms = Math.ceil(Number(number) * (UNITS[unit ?? ''] ?? Number.NaN));
  if (ms >= 1 && ms <= MAX_TIMER_MS) return ms;
  throw new UsageError(`--${name} takes a duration such as 500ms, 30s or 5m, up to 24d.`);
}

/** A whole number within its limits. */
export function whole(values: Values, name: string, fallback: number, min: number, max: number): number {
  const given = text(values, name);
  if (given === null) return fallback;
  const number = /^\d{1,10}$/.test(given) ? Number(given) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new UsageError(`--${name} takes a whole number from ${min} to ${max}.`);
}

/** The option `--queue`; null: every queue. */
export function queueOption(values: Values): string | null {
  const given = text(values, 'queue');
  return given === null ? null : queueName(given);
}

export function queueName(given: string): string {
  if (QUEUE_NAME.test(given)) return given;
  throw new UsageError('A queue is named with a-z, 0-9, _ and -, at most 40 of them.');
}

/** The option `--type`; null: any. */
export function typeOption(values: Values): string | null {
  const given = text(values, 'type');
  if (given === null || JOB_TYPE.test(given)) return given;
  throw new UsageError('A job type is named with letters, digits and . _ : -, at most 128 of them.');
}

/** An id as it is stored: in lower case. */
export function jobId(given: string): string {
  const id = given.toLowerCase();
  if (JOB_ID.test(id)) return id;
  throw new UsageError('A job id is a UUID, such as 01890a5d-ac96-774b-bcce-b302099a8057.');
}
