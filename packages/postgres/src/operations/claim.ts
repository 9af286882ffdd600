import {
  type Claim,
  type ClaimRequest,
  JOB_ID,
  type Lease,
  type Settlement,
  type SettleOutcome,
} from '@surety/core/contract';
import { CAPABILITIES } from '../capabilities.ts';
import type { Attempt } from '../connection.ts';
import { type Context, failure } from '../context.ts';
import type { Call } from '../deadline.ts';
import type { Reached } from '../floor.ts';
import { type ClaimedRow, toLeases, toReplayedLeases } from '../leases.ts';
import { sqlState } from '../native-errors.ts';
import { type PreparedSettlements, prepareSettlements } from '../settlements.ts';
import { plainArray } from '../sql.ts';
import { MARK_MS, tend, tendInBackground, tendIsDue } from './tend.ts';
import { warmUp } from './warm-up.ts';

/** What one claim should bring at most, reckoned by the mean of the queue. One answer is one string, parsed at once. */
const BYTES_A_CLAIM = 64 * 1024 * 1024;

/** How far apart waiting workers come for a job that falls due. */
const SPREAD_MS = 10;

/**
 * A queue that was just hinted at is looked at again after this, then ever later: whoever enqueued while the hint was on its way
 * may have sent none. So long no new mark is made either, so that a process asks for some hundred hints a second at most.
 */
const LOOK_AGAIN_MS = 10;

interface HotRow {
  /** Absent where nothing was settled. */
  readonly completed?: number;
  readonly completed_ids?: readonly string[] | null;
  readonly jobs: string | null;
  readonly reached: Reached | null;
  readonly paused: boolean;
  readonly replay: boolean;
}

/** G2, G4.3, G8.2, G8.4, G9.1; waits as a long poll. */
export async function claim(context: Context, request: ClaimRequest): Promise<Claim> {
  checkRequest(request);
  const { closing } = context;
  try {
    return await claimOrWait(context, request, closing);
  } catch (error) {
    // The backend was closed meanwhile: a claim that waits ends with what it holds, which is nothing.
    if (!closing.aborted || (error as { code?: unknown }).code !== 'BACKEND_CLOSED') throw error;
    return { leases: [], paused: false, leasedAt: performance.now() };
  }
}

async function claimOrWait(context: Context, request: ClaimRequest, closing: AbortSignal): Promise<Claim> {
  // Those of now: a backend that is closed and opened again has new ones.
  const { listener } = context;
  const { queue, signal } = request;
  const waitUntil = performance.now() + request.waitMs;
  const end = waitUntil + request.timeoutMs;
  const call = (): Call => ({
    operation: 'claim',
    deadline: Math.min(end, performance.now() + request.timeoutMs),
  });
  const over = (): boolean => signal?.aborted === true || closing.aborted;
  let found: Claim = { leases: [], paused: false, leasedAt: performance.now() };
  if (over()) return found;
  let seen = listener.news(queue);
  let wanted = true;
  // What is due or was lost may be of a better level than what stands in line.
  if (tendIsDue(context, queue)) {
    const tending = tend(context, queue, false, call());
    // After it, so that it takes the connection that is there.
    warmUp(context, request, call());
    await tending;
  }
  while (!over()) {
    if (wanted) found = await claimOnce(context, request, call());
    if (found.leases.length > 0 || found.paused || over()) break;
    const waits = performance.now() < waitUntil;
    // Not before: a busy worker needs no hints, and its first claims no second connection beside them.
    if (waits) listener.start();
    const marks = waits && performance.now() - listener.heardAt(queue) >= LOOK_AGAIN_MS;
    const tended = await tend(context, queue, marks, call());
    if (tended.paused) return { ...found, paused: true };
    // Who marks itself idle looks once more: what was stored before the mark could be seen sent no hint.
    if ((tended.claimable || tended.newlyMarked) && !over()) {
      seen = listener.news(queue);
      found = await claimOnce(context, request, call());
      if (found.leases.length > 0 || found.paused) break;
    }
    const leftMs = waitUntil - performance.now();
    if (leftMs <= 0) return found;
    // Workers that wait for the same due time should not all come in the same millisecond, nor always in the same order.
    const dueMs =
      tended.nextDueMs === null ? Number.POSITIVE_INFINITY : tended.nextDueMs + Math.random() * SPREAD_MS;
    const waitMs = Math.min(context.options.pollMs, MARK_MS / 2, leftMs, dueMs, lookAgainMs(context, queue));
    await listener.wait(queue, seen, Math.max(0, Math.ceil(waitMs)), [signal, closing]);
    wanted = listener.news(queue) !== seen;
    seen = listener.news(queue);
  }
  if (found.leases.length > 0) tendInBackground(context, queue, call());
  return found;
}

/** Until the queue is looked at for what sent no hint: as long as the last news is old, so ever later. */
function lookAgainMs({ listener, queues }: Context, queue: string): number {
  if (!listener.enabled) return Number.POSITIVE_INFINITY;
  const newsAt = Math.max(listener.heardAt(queue), queues.of(queue).markedAt);
  return Math.max(LOOK_AGAIN_MS, performance.now() - newsAt);
}

/** Settles and claims in one statement (G2.9). A statement that failed has done neither, or its answer was lost: it throws. */
export async function settleAndClaim(
  context: Context,
  settlements: readonly Settlement[],
  request: ClaimRequest,
): Promise<{ readonly outcomes: readonly SettleOutcome[]; readonly claim: Claim }> {
  checkRequest(request);
  const call: Call = { operation: 'settleAndClaim', deadline: performance.now() + request.timeoutMs };
  const prepared = prepareSettlements(settlements, context.options.keepCompletedMs > 0);
  const made = await send(context, prepared, request, call);
  tendInBackground(context, request.queue, call);
  return { outcomes: prepared.outcomes, claim: made };
}

async function claimOnce(context: Context, request: ClaimRequest, call: Call): Promise<Claim> {
  return send(context, prepareSettlements([], false), request, call);
}

function send(
  context: Context,
  prepared: PreparedSettlements,
  request: ClaimRequest,
  call: Call,
): Promise<Claim> {
  const { claiming } = context.queues.of(request.queue);
  const sent = sendStatement(context, prepared, request, call);
  // Without what was answered, which a set can keep long after it was taken out.
  const over = sent.then(
    () => undefined,
    () => undefined,
  );
  claiming.add(over);
  void over.then(() => claiming.delete(over));
  return sent;
}

async function sendStatement(
  context: Context,
  prepared: PreparedSettlements,
  request: ClaimRequest,
  call: Call,
): Promise<Claim> {
  const { queue, nonce } = request;
  const state = context.queues.of(queue);
  const most = Math.min(
    request.max,
    CAPABILITIES.batch.maxItems,
    Math.max(1, Math.floor(BYTES_A_CLAIM / state.meanBytes)),
  );
  const { floors, probe } = state.floor.next(performance.now());
  const claimed = [queue, most, request.leaseMs, nonce, plainArray(floors)];
  const result = await context.connections.attempt(...prepared.statement(context, claimed), call);
  if (!result.ok) {
    // Twice the same nonce at once: the other call holds the jobs. The whole statement was undone, the settlements too.
    if (sqlState(result.native) === '23505') return repeat(context, prepared, request, call);
    throw result.error;
  }
  const row = result.rows[0] as unknown as HotRow;
  prepared.answered(context, row.completed ?? 0, row.completed_ids ?? null);
  context.lastClaimAt = performance.now();
  if (row.replay)
    return { leases: await claimAgain(context, queue, nonce, call), paused: false, leasedAt: result.sentAt };
  const leases = await read(context, row.jobs, request, call);
  state.floor.learn({
    probe,
    full: leases.rows.length >= most,
    now: performance.now(),
    tookMs: performance.now() - result.sentAt,
    count: leases.rows.length,
    reached: row.reached ?? {},
  });
  return { leases: leases.leases, paused: row.paused, leasedAt: result.sentAt };
}

async function read(
  context: Context,
  jobs: string | null,
  request: ClaimRequest,
  call: Call,
): Promise<{ readonly rows: readonly ClaimedRow[]; readonly leases: readonly Lease[] }> {
  if (jobs === null) return { rows: [], leases: [] };
  const state = context.queues.of(request.queue);
  try {
    const rows = JSON.parse(jobs) as ClaimedRow[];
    state.meanBytes = (state.meanBytes + jobs.length / rows.length) / 2;
    const leases = toLeases(rows, request.queue, request.nonce);
    context.held.took(request.nonce, leases);
    return { rows, leases };
  } catch {
    // One payload that JavaScript cannot parse must not hide its neighbours: fetch them one by one.
    return { rows: [], leases: await claimAgain(context, request.queue, request.nonce, call) };
  }
}

async function claimAgain(
  context: Context,
  queue: string,
  nonce: string,
  call: Call,
): Promise<readonly Lease[]> {
  const { rows } = await context.connections.ask(context.sql.claimAgain, [nonce, queue], call);
  return toReplayedLeases(
    rows as unknown as { readonly facts: string; readonly payload: string }[],
    queue,
    nonce,
  );
}

async function repeat(
  context: Context,
  prepared: PreparedSettlements,
  request: ClaimRequest,
  call: Call,
): Promise<Claim> {
  const nothing = [request.queue, 0, request.leaseMs, request.nonce, plainArray([0])];
  const result: Attempt = await context.connections.attempt(...prepared.statement(context, nothing), call);
  if (!result.ok) throw result.error;
  const row = result.rows[0] as unknown as HotRow;
  prepared.answered(context, row.completed ?? 0, row.completed_ids ?? null);
  const sentAt = performance.now();
  return {
    leases: await claimAgain(context, request.queue, request.nonce, call),
    paused: false,
    leasedAt: sentAt,
  };
}

function checkRequest(request: ClaimRequest): void {
  const { leaseMs, max, nonce } = request;
  const { minMs, maxMs } = CAPABILITIES.lease;
  if (!Number.isInteger(leaseMs) || leaseMs < minMs || leaseMs > maxMs) {
    throw failure(
      'LIMIT_EXCEEDED',
      `A lease of ${leaseMs} ms is not within ${minMs} to ${maxMs} ms.`,
      'claim',
    );
  }
  if (!Number.isInteger(max) || max < 1)
    throw failure('OPTIONS_INVALID', 'A claim asks for less than one job.', 'claim');
  if (!JOB_ID.test(nonce)) throw failure('OPTIONS_INVALID', 'The nonce of a claim is not a UUID.', 'claim');
}
