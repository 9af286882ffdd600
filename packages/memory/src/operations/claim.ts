import type { Claim, ClaimRequest } from '@surety/core/contract';
import { type Call, type Connection, NoAnswer } from '../connection.ts';
import { assertClaim } from '../store/assert-limits.ts';
import { type Context, chance } from '../store/context.ts';
import type { Session } from '../store/session.ts';
import { leaseReady, nothing } from './lease-ready.ts';
import { type Ended, waitForJobs } from './wait-for-jobs.ts';

/** Leases what is ready; with `waitMs` waits for the first job. */
export async function claim(context: Context, request: ClaimRequest): Promise<Claim> {
  const { connection } = context;
  assertClaim(context, request, 'claim');
  const call: Call = {
    operation: 'claim',
    deadline: performance.now() + request.timeoutMs,
    signal: request.signal,
  };
  try {
    connection.begin(call);
    if (!connection.reachable) await connection.arrive(call);
    if (request.signal?.aborted === true) return nothing(false);
    return await ask(context, request, call);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    // Whoever gave up waiting is told of no lease; what the store leased meanwhile ends by itself.
    if (request.signal?.aborted === true) return nothing(false);
    throw error.reason;
  }
}

async function ask(context: Context, request: ClaimRequest, call: Call): Promise<Claim> {
  const { connection } = context;
  const session = connection.session;
  const falselyEmpty = drawEmpty(context, request.queue);
  const first = falselyEmpty ? nothing(false) : leaseReady(context, request);
  if (first.leases.length > 0 || first.paused || request.waitMs <= 0 || falselyEmpty) {
    await connection.answered(call, session);
    connection.lastClaimOk = performance.now();
    return first;
  }
  const ended = await waitForJobs(context, request, session);
  return afterWait(connection, call, session, ended, request.timeoutMs);
}

async function afterWait(
  connection: Connection,
  call: Call,
  session: Session,
  ended: Ended,
  timeoutMs: number,
): Promise<Claim> {
  // A wait that was ended from this side holds nothing and needs no answer.
  if (ended.how === 'stopped') return nothing(false);
  const late: Call = { ...call, deadline: performance.now() + timeoutMs };
  await connection.answered(late, session);
  connection.lastClaimOk = performance.now();
  return ended.claim;
}

function drawEmpty(context: Context, queue: string): boolean {
  if (!chance(context, 'emptyClaim')) return false;
  context.store.faults.note('empty-claim', { queue, operation: 'claim' });
  return true;
}
