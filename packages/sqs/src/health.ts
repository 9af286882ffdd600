import type { BackendHealth, Notice } from '@surety/core/contract';
import type { SuretyError } from '@surety/core/errors';

/** Whether the service answers, as each kind of request told last. */
export class Health {
  readonly #troubles = new Map<string, SuretyError>();
  readonly #notify: (notice: Notice) => void;

  constructor(notify: (notice: Notice) => void) {
    this.#notify = notify;
  }

  /** `null`: the request was answered. */
  heard(verb: string, trouble: SuretyError | null): void {
    const before = this.#troubles.size;
    if (trouble === null) this.#troubles.delete(verb);
    else this.#troubles.set(verb, trouble);
    const now = this.#troubles.size;
    if (before === 0 && now > 0)
      this.#notify({
        kind: 'degraded',
        reason: 'Requests to SQS fail.',
        error: this.#troubles.get(verb) ?? null,
      });
    if (before > 0 && now === 0)
      this.#notify({ kind: 'recovered', reason: 'Requests to SQS are answered again.' });
  }

  clear(): void {
    this.#troubles.clear();
  }

  tell(opened: boolean, lastClaimAt: number | null, lastRenewAt: number | null): BackendHealth {
    const ago = (at: number | null): number | null => (at === null ? null : performance.now() - at);
    const [trouble] = this.#troubles.values();
    const reason = opened ? (trouble?.message ?? null) : 'The backend is not open.';
    return {
      ok: reason === null,
      lastClaimOkAgoMs: ago(lastClaimAt),
      lastRenewOkAgoMs: ago(lastRenewAt),
      reason,
    };
  }
}
