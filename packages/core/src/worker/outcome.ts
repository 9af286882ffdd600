import { type Duration, durationMs } from '../options/duration.ts';

const OUTCOME = Symbol.for('surety.handler-outcome');
const PERMANENT = Symbol.for('surety.permanent-error');
const YEAR_MS = 366 * 86_400_000;

/** What a handler may return to end its job otherwise than by success. Made by `ctx.snooze`, `ctx.cancel`, `ctx.bury`. */
export type HandlerOutcome =
  | { readonly kind: 'snooze'; readonly delayMs: number }
  | { readonly kind: 'cancel'; readonly reason: string }
  | { readonly kind: 'bury'; readonly reason: string };

/** Put back, refunded, due again after `delay`. */
export function snooze(delay: Duration): HandlerOutcome {
  return marked({ kind: 'snooze', delayMs: durationMs('snooze', delay, 0, YEAR_MS) });
}

/** Ends the job without a dead letter. */
export function cancel(reason: string): HandlerOutcome {
  return marked({ kind: 'cancel', reason: String(reason) });
}

/** Into the dead letters now, with this reason. */
export function bury(reason: string): HandlerOutcome {
  return marked({ kind: 'bury', reason: String(reason) });
}

/** Whether a returned value is an outcome; a plain object that looks like one is not. */
export function isHandlerOutcome(value: unknown): value is HandlerOutcome {
  return isMarked(value, OUTCOME);
}

function marked(outcome: HandlerOutcome): HandlerOutcome {
  Object.defineProperty(outcome, OUTCOME, { value: true });
  return Object.freeze(outcome);
}

/** Throw it from a deep stack where no retry can help: the job is buried at once. */
export class PermanentError extends Error {
  override readonly name: string = 'PermanentError';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    Object.defineProperty(this, PERMANENT, { value: true });
  }
}

/** Also true for one of another copy of the package. */
export function isPermanent(error: unknown): boolean {
  return isMarked(error, PERMANENT);
}

/** Handlers may return or throw anything, also what throws when it is looked at. */
function isMarked(value: unknown, mark: symbol): boolean {
  try {
    return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[mark] === true;
  } catch {
    return false;
  }
}

/** Why a handler's signal aborted; the `reason` of its signal. */
export class AbortReason extends Error {
  override readonly name = 'AbortError';
  readonly kind: 'timeout' | 'lease-lost' | 'shutdown';

  constructor(kind: AbortReason['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}
