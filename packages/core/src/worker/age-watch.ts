import type { Backend, CountKind, Notice } from '../contract/index.ts';
import type { Reporter } from './reporter.ts';

/** Raised when the oldest ready job of a queue has waited longer than the limit; cleared when it no longer has. */
export interface AgeAlert {
  readonly queue: string;
  readonly state: 'raised' | 'cleared';
  readonly oldestReadyAgeMs: number | null;
  readonly limitMs: number;
}

/** Why no alert can ever be raised with this backend; null: it tells ages. */
export function blindness({ name, capabilities }: Pick<Backend, 'name' | 'capabilities'>): Notice | null {
  const kind = capabilities.oldestReadyAge;
  if (tellsAge(kind)) return null;
  const told = kind === 'none' ? 'nothing of the age of ready jobs' : 'only what no ready job is older than';
  const message = `No age-alert can be raised: the backend ${name} tells ${told}.`;
  return { kind: 'warning', code: 'CAPABILITY_MISSING', message };
}

function tellsAge(kind: CountKind): boolean {
  return kind !== 'none' && kind !== 'upper-bound';
}

/** Cleared below this part of the limit, so that an age that hovers at it does not flap. */
const CLEAR_AT = 0.9;

/**
 * Watches the age of the oldest ready job, not the depth: a deep queue that drains is healthy, a shallow one with an old job is not.
 * `look` asks once; a failed look changes no alert (what cannot be seen is neither raised nor cleared).
 */
export class AgeWatch {
  readonly #backend: Pick<Backend, 'counts'>;
  readonly #limitMs: number;
  readonly #onAlert: (alert: AgeAlert) => void;
  readonly #raised = new Set<string>();

  constructor(backend: Pick<Backend, 'counts'>, limitMs: number, onAlert: (alert: AgeAlert) => void) {
    this.#backend = backend;
    this.#limitMs = limitMs;
    this.#onAlert = onAlert;
  }

  /** Asks for the counts of one queue and raises or clears its alert. Throws what the backend throws. */
  async look(queue: string, timeoutMs: number): Promise<void> {
    const { oldestReadyAgeMs } = await this.#backend.counts(queue, { timeoutMs });
    const { kind } = oldestReadyAgeMs;
    // Not to be had is not zero: without a figure nothing is known.
    if (kind === 'none') return;
    const age = oldestReadyAgeMs.value ?? 0;
    // No older than a bound may be young: a queue that is never empty would raise an alert for ever.
    if (!this.#raised.has(queue) && age > this.#limitMs && tellsAge(kind))
      this.#change(queue, 'raised', oldestReadyAgeMs.value);
    else if (this.#raised.has(queue) && age < this.#limitMs * CLEAR_AT)
      this.#change(queue, 'cleared', oldestReadyAgeMs.value);
  }

  /** Looks at all queues now and every `everyMs`; a look that takes longer is not doubled. */
  every(
    everyMs: number,
    queues: readonly string[],
    timeoutMs: number,
    reporter: Pick<Reporter, 'trouble' | 'recovered'>,
  ): NodeJS.Timeout {
    let looking = false;
    const look = async (): Promise<void> => {
      if (looking) return;
      looking = true;
      for (const queue of queues) {
        const what = `counts on queue ${queue}`;
        await this.look(queue, timeoutMs).then(
          () => reporter.recovered(what),
          (error: unknown) => reporter.trouble(what, error),
        );
      }
      looking = false;
    };
    void look();
    return setInterval(() => void look(), everyMs);
  }

  #change(queue: string, state: AgeAlert['state'], oldestReadyAgeMs: number | null): void {
    if (state === 'raised') this.#raised.add(queue);
    else this.#raised.delete(queue);
    this.#onAlert({ queue, state, oldestReadyAgeMs, limitMs: this.#limitMs });
  }
}
