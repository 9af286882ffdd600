import { type CallOptions, JOB_ID, type Lease, type RenewOutcome } from '@surety/core/contract';
import { CAPABILITIES } from '../capabilities.ts';
import { type Context, failure, startCall } from '../context.ts';
import type { Call } from '../deadline.ts';
import { SCRIPTS } from '../script.ts';

const LOST: RenewOutcome = Object.freeze({ status: 'lease-lost' });
/** The most leases of one call of the script. */
const MOST_A_CALL = 500;

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
  const outcomes: RenewOutcome[] = leases.map(() => LOST);
  const byQueue = new Map<string, number[]>();
  for (const [index, { id, queue, token }] of leases.entries()) {
    if (!JOB_ID.test(id) || !JOB_ID.test(token.nonce) || !Number.isSafeInteger(token.fence)) continue;
    const known = byQueue.get(queue);
    if (known === undefined) byQueue.set(queue, [index]);
    else known.push(index);
  }
  const sending: Promise<void>[] = [];
  for (const [queue, indexes] of byQueue) {
    for (let at = 0; at < indexes.length; at += MOST_A_CALL)
      sending.push(
        renewSome(context, queue, leases, indexes.slice(at, at + MOST_A_CALL), leaseMs, outcomes, call),
      );
  }
  await Promise.all(sending);
  context.lastRenewAt = performance.now();
  return outcomes;
}

async function renewSome(
  context: Context,
  queue: string,
  leases: readonly Lease[],
  indexes: readonly number[],
  leaseMs: number,
  outcomes: RenewOutcome[],
  call: Call,
): Promise<void> {
  const groups = new Map<string, number[]>();
  for (const index of indexes) {
    const { token } = leases[index] as Lease;
    const claim = `${token.nonce}${token.fence}`;
    const known = groups.get(claim);
    if (known === undefined) groups.set(claim, [index]);
    else known.push(index);
  }
  const values: (string | number)[] = [leaseMs];
  for (const members of groups.values()) {
    const { token } = leases[members[0] ?? 0] as Lease;
    values.push(token.nonce, token.fence, members.length);
    for (const index of members) values.push((leases[index] as Lease).id);
  }
  const { keys } = context.queues.of(queue);
  const lost = new Set((await context.connection.ask(SCRIPTS.renew, keys.renew, values, call)) as number[]);
  for (const [place, index] of [...groups.values()].flat().entries()) {
    if (!lost.has(place + 1)) outcomes[index] = { status: 'renewed', leaseMs };
  }
}
