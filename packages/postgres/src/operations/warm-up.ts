import type { ClaimRequest } from '@surety/core/contract';
import type { Connections } from '../connection.ts';
import type { Context } from '../context.ts';
import type { Call } from '../deadline.ts';
import { plainArray } from '../sql.ts';

const warm = new WeakSet<Connections>();
const NONE = plainArray([]);

/**
 * Makes the second connection of a worker, and there the plans of what it sends all the time, while its first claim is under way over the
 * first: together some 30 ms, which it would else spend in its first moments of work. Claims nothing and settles nothing. Not on a
 * pool that the application gave, whose connections are not ours to make. A failure shows in the next call, which meets the same store.
 */
export function warmUp(context: Context, { queue, leaseMs, nonce }: ClaimRequest, call: Call): void {
  const { connections, options, sql } = context;
  if (options.pool !== null || options.poolSize < 2 || warm.has(connections)) return;
  warm.add(connections);
  const claimed = [queue, 0, leaseMs, nonce, plainArray([0])];
  connections
    .ask(sql.completeAndClaim, [NONE, NONE, NONE, NONE, NONE, ...claimed], call)
    .catch(() => undefined);
}
