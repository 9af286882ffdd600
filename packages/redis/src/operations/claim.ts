import {
  type Claim,
  type ClaimRequest,
  JOB_ID,
  type Lease,
  type Settlement,
  type SettleOutcome,
} from '@surety/core/contract';
import { CAPABILITIES } from '../capabilities.ts';
import { type PreparedCall, prepareCall } from '../client.ts';
import type { Values } from '../connection.ts';
import { type Context, failure } from '../context.ts';
import type { Call } from '../deadline.ts';
import { type Claimed, type Origin, toLeases, toLeasesApart } from '../leases.ts';
import { SCRIPTS } from '../script.ts';
import {
  answerSettlements,
  lostOutcomes,
  NOTHING_TO_SETTLE,
  prepareSettlements,
  type SettleCall,
  scriptValues,
} from '../settlements.ts';
import { settleCalls } from './settle.ts';

/** What one claim should bring at most, reckoned by the mean of the queue. The bodies of one answer are one text, parsed at once. */
const BYTES_A_CLAIM = 16 * 1024 * 1024;
/** How far apart waiting workers come for a job that falls due. */
const SPREAD_MS = 10;

/** What the script answers; see its head. */
type Reply = readonly [
  lost: readonly number[],
  /** Empty: no job was claimed. */
  jobs: string,
  bodies: string | readonly string[],
  paused: number,
  nextMs: number,
  fence: string,
  now: number,
  missing: number,
  counters: string,
];

interface Answer {
  readonly claim: Claim;
  /** Until the next job is due or claim ends; null: nothing waits. */
  readonly nextMs: number | null;
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
  // That of now: a backend that is closed and opened again has a new one.
  const { listener } = context;
  const { queue, signal } = request;
  const waitUntil = performance.now() + request.waitMs;
  const end = waitUntil + request.timeoutMs;
  const over = (): boolean => signal?.aborted === true || closing.aborted;
  if (over()) return { leases: [], paused: false, leasedAt: performance.now() };
  let question = questionOf(context, NOTHING_TO_SETTLE, request);
  for (;;) {
    const deadline = Math.min(end, performance.now() + request.timeoutMs);
    const seen = listener.news(queue);
    const found = await send(context, question, request, [], { operation: 'claim', deadline });
    if (found.claim.leases.length > 0 || found.claim.paused || over()) return found.claim;
    const leftMs = waitUntil - performance.now();
    if (leftMs <= 0) return found.claim;
    // Workers that wait for the same due time should not all come in the same millisecond, nor always in the same order.
    const dueMs =
      found.nextMs === null ? Number.POSITIVE_INFINITY : found.nextMs + 1 + Math.random() * SPREAD_MS;
    const waitMs = Math.min(context.options.pollMs, leftMs, dueMs);
    question = prepared(context, questionOf(context, NOTHING_TO_SETTLE, request), queue);
    await listener.wait(queue, seen, Math.ceil(waitMs), signal);
    if (over()) return found.claim;
  }
}

/** Settles and claims in one call of the script (G2.9). A call that failed has done neither, or its answer was lost: it throws. */
export async function settleAndClaim(
  context: Context,
  settlements: readonly Settlement[],
  request: ClaimRequest,
): Promise<{ readonly outcomes: readonly SettleOutcome[]; readonly claim: Claim }> {
  checkRequest(request);
  const call: Call = { operation: 'settleAndClaim', deadline: performance.now() + request.timeoutMs };
  const outcomes = lostOutcomes(settlements);
  const calls = prepareSettlements(settlements, context.options.keepCompletedMs > 0);
  const own = calls.find(({ queue }) => queue === request.queue) ?? NOTHING_TO_SETTLE;
  // Of other queues, or more than one call carries: beside it, each for itself.
  const others = calls.filter((each) => each !== own);
  const [made] = await Promise.all([
    send(context, questionOf(context, own, request), request, outcomes, call),
    others.length === 0 ? null : settleCalls(context, others, outcomes, call),
  ]);
  return { outcomes, claim: made.claim };
}

/** A call of the script, before it is sent. */
interface Question {
  readonly settling: SettleCall;
  readonly values: Values;
  readonly prepared: PreparedCall | null;
}

function questionOf(context: Context, settling: SettleCall, request: ClaimRequest): Question {
  const { queue, leaseMs, nonce } = request;
  const mostByBytes = Math.max(1, Math.floor(BYTES_A_CLAIM / context.queues.of(queue).meanBytes));
  const most = Math.min(request.max, CAPABILITIES.batch.maxItems, mostByBytes);
  const values = scriptValues(context.options, settling, most, leaseMs, nonce, false);
  return { settling, values, prepared: null };
}

/** Made into text while nothing is to be done: an idle process is slow at first, and a job waits for what it does then. */
function prepared({ options, queues }: Context, question: Question, queue: string): Question {
  const { sha } = SCRIPTS.settleAndClaim;
  const { settleAndClaim } = queues.of(queue).keys;
  return { ...question, prepared: prepareCall(options, sha, settleAndClaim, question.values) };
}

function send(
  context: Context,
  question: Question,
  request: ClaimRequest,
  outcomes: SettleOutcome[],
  call: Call,
): Promise<Answer> {
  const { claiming } = context.queues.of(request.queue);
  const sent = sendScript(context, question, request, outcomes, call);
  // Without what was answered, which a set can keep long after it was taken out.
  const over = sent.then(
    () => undefined,
    () => undefined,
  );
  claiming.add(over);
  void over.then(() => claiming.delete(over));
  return sent;
}

async function sendScript(
  context: Context,
  { settling, values, prepared }: Question,
  request: ClaimRequest,
  outcomes: SettleOutcome[],
  call: Call,
): Promise<Answer> {
  const { queue, nonce } = request;
  const { keys } = context.queues.of(queue);
  const script = SCRIPTS.settleAndClaim;
  const result = await context.connection.attempt(script, keys.settleAndClaim, values, call, prepared);
  if (!result.ok) throw result.error;
  const reply = result.reply as Reply;
  const [lost, jobs, bodies, paused, nextMs, fence, now, missing, counters] = reply;
  if (outcomes.length > 0) answerSettlements(outcomes, settling, lost);
  context.lastClaimAt = performance.now();
  if (missing > 0) tellMissing(context, queue, missing);
  const origin: Origin = { queue, token: { nonce, fence: Number(fence) }, now };
  const leases =
    jobs === ''
      ? []
      : (read(context, { jobs, counters }, bodies as string, origin) ??
        (await claimAgain(context, request, call)));
  return {
    claim: { leases, paused: paused === 1, leasedAt: result.sentAt },
    nextMs: nextMs < 0 ? null : nextMs,
  };
}

/** Null when one of the payloads is not JSON. It must not hide its neighbours: the same claim is made again, each body apart. */
function read(context: Context, claimed: Claimed, bodies: string, origin: Origin): readonly Lease[] | null {
  const leases = toLeases(claimed, bodies, origin);
  if (leases === null) return null;
  const state = context.queues.of(origin.queue);
  const bytes = (claimed.jobs.length + bodies.length) / leases.length;
  // The more jobs, the more they tell: a hundred small ones nearly all, a lone one little.
  state.meanBytes += (bytes - state.meanBytes) * (leases.length / (leases.length + 10));
  return leases;
}

async function claimAgain(context: Context, request: ClaimRequest, call: Call): Promise<readonly Lease[]> {
  const { queue, nonce, leaseMs } = request;
  const values = scriptValues(context.options, NOTHING_TO_SETTLE, 1, leaseMs, nonce, true);
  const { keys } = context.queues.of(queue);
  const reply = (await context.connection.ask(
    SCRIPTS.settleAndClaim,
    keys.settleAndClaim,
    values,
    call,
  )) as Reply;
  const [, jobs, bodies, , , fence, now, , counters] = reply;
  if (jobs === '') return [];
  const origin: Origin = { queue, token: { nonce, fence: Number(fence) }, now };
  return toLeasesApart({ jobs, counters }, bodies as readonly string[], origin);
}

function tellMissing(context: Context, queue: string, missing: number): void {
  context.notify({
    kind: 'warning',
    code: 'STORE_CORRUPT',
    message: `${missing} ready jobs of the queue "${queue}" have no body: something else changed keys under the prefix.`,
  });
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
