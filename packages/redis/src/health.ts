import type { BackendHealth, Notice } from '@surety/core/contract';
import type { SuretyError } from '@surety/core/errors';

/** Whether the store can be reached, as its last answers told. */
export interface Health {
  /** `null`: the store answered. */
  heard(unreachable: SuretyError | null): void;
  tell(opened: boolean, lastClaimAt: number | null, lastRenewAt: number | null): BackendHealth;
}

export function createHealth(notify: (notice: Notice) => void): Health {
  let trouble: SuretyError | null = null;
  return {
    heard(unreachable) {
      if (unreachable !== null && trouble === null) {
        notify({ kind: 'degraded', reason: 'Redis cannot be reached.', error: unreachable });
      }
      if (unreachable === null && trouble !== null) {
        notify({ kind: 'recovered', reason: 'Redis answers again.' });
      }
      trouble = unreachable;
    },
    tell(opened, lastClaimAt, lastRenewAt) {
      const ago = (at: number | null): number | null => (at === null ? null : performance.now() - at);
      const reason = opened ? (trouble?.message ?? null) : 'The backend is not open.';
      return {
        ok: reason === null,
        lastClaimOkAgoMs: ago(lastClaimAt),
        lastRenewOkAgoMs: ago(lastRenewAt),
        reason,
      };
    },
  };
}
