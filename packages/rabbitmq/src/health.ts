import type { BackendHealth, Notice } from '@surety/core/contract';
import type { SuretyError } from '@surety/core/errors';
import { fromNative } from './native-errors.ts';

/** The connection over which jobs are held. */
export const HOLDS_LEASES = 'consumer';

/** Whether the broker can be reached, as each of the connections told last. */
export class Health {
  readonly #troubles = new Map<string, SuretyError>();

  /** `null`: the connection stands. */
  heard(line: string, trouble: unknown, notify: (notice: Notice) => void): void {
    const before = this.#troubles.size;
    const isNew = !this.#troubles.has(line);
    if (trouble === null) this.#troubles.delete(line);
    else this.#troubles.set(line, fromNative(trouble, 'connect'));
    const now = this.#troubles.size;
    // With the connection that brings jobs their leases have ended: that is told although another one was lost before.
    if (now > 0 && trouble !== null && (before === 0 || (isNew && line === HOLDS_LEASES)))
      notify({
        kind: 'degraded',
        reason: 'A connection to RabbitMQ was lost, or cannot be made.',
        error: this.#troubles.get(line) ?? null,
      });
    if (before > 0 && now === 0)
      notify({ kind: 'recovered', reason: 'All connections to RabbitMQ stand again.' });
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
