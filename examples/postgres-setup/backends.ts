import type { Backend } from '@surety/core';
import { postgres } from '@surety/postgres';

/** Straight to the server. */
export function direct(url: string): Backend {
  // region: direct
  return postgres({
    url,
    migrate: false, // only check: SCHEMA_MISSING or SCHEMA_TOO_OLD when the deploy forgot it
    poolSize: 4, // the default; one more connection listens for notifications
  });
  // endregion
}

/** Through PgBouncer or another pooler in transaction mode. */
export function pooled(url: string): Backend {
  // region: pooled
  return postgres({
    url, // of the pooler
    migrate: false,
    listen: false, // a pooled connection cannot listen: polling alone wakes
    pollMs: 200, // a new job waits half of this on average, and at most this
  });
  // endregion
}
