import { type CallOptions, JOB_ID, type Lease, type RenewOutcome } from '@surety/core/contract';
import { CAPABILITIES } from '../capabilities.ts';
import { type Context, failure, startCall } from '../context.ts';
import type { Call } from '../deadline.ts';
import { plainArray } from '../sql.ts';

const LOST: RenewOutcome = Object.freeze({ status: 'lease-lost' });

/** Extends leases, counted from now (G2.3). */
export async function renew(
  context: Context,
  leases: readonly Lease[],
  leaseMs: number,
  options: CallOptions,
): Promise<readonly RenewOutcome[]> {
  if (leases.length === 0) return [];
  const { minMs, maxMs } = CAPABILITIES.lease;
  if (!Number.isInteger(leaseMs) || leaseMs < minMs || leaseMs > maxMs) {
    throw failure(
      'LIMIT_EXCEEDED',
      `A lease of ${leaseMs} ms is not within ${minMs} to ${maxMs} ms.`,
      'renew',
    );
  }
  const call = startCall('renew', options);
  const sound = leases.filter(
    ({ id, token }) => JOB_ID.test(id) && JOB_ID.test(token.nonce) && Number.isSafeInteger(token.fence),
  );
  const held = await send(context, sound, leaseMs, call);
  // A rival renewal of other jobs of the same claim may have split its row meanwhile: a second look finds the other part.
  const missing = sound.filter(({ token }) => !held.has(token.fence));
  if (held.size > 0 && missing.length > 0)
    for (const fence of await send(context, missing, leaseMs, call)) held.add(fence);
  context.lastRenewAt = performance.now();
  return leases.map(({ token }) => (held.has(token.fence) ? { status: 'renewed', leaseMs } : LOST));
}

async function send(
  context: Context,
  leases: readonly Lease[],
  leaseMs: number,
  call: Call,
): Promise<Set<number>> {
  if (leases.length === 0) return new Set();
  const sorted = [...leases].sort((a, b) =>
    a.id < b.id ? -1 : a.id > b.id ? 1 : a.token.fence - b.token.fence,
  );
  const nonces = [...new Set(sorted.map(({ token }) => token.nonce))];
  const place = new Map(nonces.map((nonce, index) => [nonce, index + 1]));
  const { rows } = await context.connections.ask(
    context.sql.renew,
    [
      plainArray(sorted.map(({ id }) => id)),
      plainArray(sorted.map(({ token }) => token.fence)),
      plainArray(sorted.map(({ token }) => place.get(token.nonce) ?? 0)),
      plainArray(nonces),
      leaseMs,
    ],
    call,
  );
  return new Set(rows.map((row) => Number((row as { fence: string }).fence)));
}
