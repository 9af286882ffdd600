import type { AttemptEvent, AttemptOutcome } from '../events/worker-events.ts';

/** Ends that say nothing but that they came: no error, no reason. Most lines are of these. */
type PlainOutcome = Extract<AttemptOutcome, 'completed' | 'cancelled' | 'released' | 'snoozed'>;

/** The number by which pino knows its level `info`. */
const INFO = 30;

/**
 * Writes the lines of attempts that ended plainly, each as pino does. Id, type, queue and outcome hold no character that JSON escapes, and most lines have the
 * time of the one before: without asking pino for each of them a line costs a third, which at these rates is more than all else that is done for a short job.
 */
export class PlainLines {
  readonly #start: string;
  #time = Number.NaN;
  #stamp = '';

  /** `base`: what stands in every line. */
  constructor(base: Readonly<Record<string, number>>) {
    const fields = Object.entries(base).map(([name, value]) => `"${name}":${value},`);
    this.#start = `",${fields.join('')}"jobId":"`;
  }

  /** With its line end. */
  lineOf(event: AttemptEvent & { readonly outcome: PlainOutcome }): string {
    const { jobId, type, queue, attempt, durationMs, waitMs, outcome } = event;
    return `{"level":${INFO},"time":"${this.#now()}${this.#start}${jobId}","type":"${type}","queue":"${queue}","attempt":${numberOrNull(attempt)},"durationMs":${numberOrNull(roundedMs(durationMs))},"waitMs":${numberOrNull(waitMs)},"outcome":"${outcome}","msg":"attempt"}\n`;
  }

  #now(): string {
    const now = Date.now();
    if (now !== this.#time) {
      this.#time = now;
      this.#stamp = new Date(now).toISOString();
    }
    return this.#stamp;
  }
}

/** An adapter may give what is no number; in JSON it is null. */
function numberOrNull(value: number | null): number | null {
  return Number.isFinite(value) ? value : null;
}

/** To a microsecond. */
export function roundedMs(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1000) / 1000;
}

/** Whether its line has neither error nor reason. */
export function isPlain(event: AttemptEvent): event is AttemptEvent & { readonly outcome: PlainOutcome } {
  return event.message === null && event.errorClass === null && PLAIN.has(event.outcome);
}

const PLAIN: ReadonlySet<AttemptOutcome> = new Set<PlainOutcome>([
  'completed',
  'cancelled',
  'released',
  'snoozed',
]);
