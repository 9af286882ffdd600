import { randomUUID } from 'node:crypto';
import type { Claim, ClaimRequest, Lease } from '@surety/core/contract';
import type { Message } from 'amqplib';
import { type Call, closedError, failure, startCall } from '../call.ts';
import { type Held, leaseOf } from '../claims/held.ts';
import type { Lane } from '../claims/lane.ts';
import type { Waited } from '../claims/waiters.ts';
import { type Context, sessionOf } from '../context.ts';
import { atClaim, brokerCounts, charged, newEnvelope } from '../envelope.ts';
import { open } from '../message-body.ts';
import { fromNative, overLostConnections } from '../native-errors.ts';
import type { Session } from '../session.ts';
import { assertLeaseMs } from './assert-lease.ts';

/** Leases what is ready; with `waitMs` waits for a first job. */
export async function claim(context: Context, request: ClaimRequest): Promise<Claim> {
  const session = sessionOf(context, 'claim');
  assertClaim(context, request, 'claim');
  if (request.signal?.aborted === true) return nothing(false);
  session.meet(request.queue);
  const call = startCall('claim', request);
  const waitUntil = request.waitMs > 0 ? performance.now() + request.waitMs : 0;
  try {
    // What was delivered over a connection that is lost goes back by itself.
    const claimed = await overLostConnections(() => attempt(session, request, call, waitUntil));
    context.lastClaimAt = performance.now();
    return claimed;
  } catch (native) {
    if (session.isClosed) throw closedError('claim');
    throw fromNative(native, 'claim');
  }
}

/** Leases what was delivered by now; never waits. */
export async function claimNow(context: Context, request: ClaimRequest, call: Call): Promise<Claim> {
  const session = sessionOf(context, call.operation);
  const { queue, max } = request;
  session.meet(queue);
  const lane = session.lanes.open(queue) ?? (await declaredLane(session, queue, call));
  const paused = session.pauses.known(queue) ?? (await session.pauses.isPaused(queue, call));
  if (paused) return nothing(true);
  const messages = await lane.drain(max, call);
  if (session.pauses.isKnownPaused(queue)) {
    await lane.giveBack(messages);
    return nothing(true);
  }
  context.lastClaimAt = performance.now();
  return { leases: lease(session, lane, messages, request), paused: false, leasedAt: performance.now() };
}

/** Throws LIMIT_EXCEEDED for a claim that asks for more than the backend gives. */
export function assertClaim(context: Context, request: ClaimRequest, operation: string): void {
  assertLeaseMs(context, request.leaseMs, operation);
  const { maxItems } = context.capabilities.batch;
  if (request.max >= 1 && request.max <= maxItems) return;
  throw failure('LIMIT_EXCEEDED', `A claim of ${request.max} jobs is outside 1 to ${maxItems}.`, operation);
}

async function declaredLane(session: Session, queue: string, call: Call): Promise<Lane> {
  // The queue first: until it stands there is nothing to listen to.
  await session.topology.declared(queue, call);
  return session.lanes.get(queue, call);
}

async function attempt(
  session: Session,
  request: ClaimRequest,
  call: Call,
  waitUntil: number,
): Promise<Claim> {
  const { queue, max, signal } = request;
  const lane = session.lanes.open(queue) ?? (await unlessAborted(declaredLane(session, queue, call), signal));
  if (lane === null) return nothing(false);
  // Once the lane stands changes of the pause are heard.
  const isPaused = await unlessAborted(session.pauses.isPaused(queue, call), signal);
  if (isPaused === true) return nothing(true);
  if (isPaused === null || signal?.aborted === true) return nothing(false);
  const waitMs = waitUntil - performance.now();
  const { messages, paused, renewed }: Waited =
    waitMs > 0
      ? await lane.wait(max, waitMs, signal)
      : { messages: await lane.take(max, call), paused: false };
  if (renewed === true) return attempt(session, request, startCall('claim', request), waitUntil);
  if (paused || session.pauses.isKnownPaused(queue)) {
    await lane.giveBack(messages);
    return nothing(true);
  }
  return { leases: lease(session, lane, messages, request), paused: false, leasedAt: performance.now() };
}

/** Null as soon as the signal aborts: what a busy broker is asked meanwhile goes on, for whoever comes next. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | null): Promise<T | null> {
  if (signal === null) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => resolve(null);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function lease(session: Session, lane: Lane, messages: readonly Message[], request: ClaimRequest): Lease[] {
  const leases: Lease[] = [];
  const takenAt = performance.now();
  const now = Date.now();
  const token = { nonce: request.nonce, fence: 0 };
  for (const message of messages) {
    const opened = open(message);
    if ('broken' in opened) {
      void buryBroken(session, lane, message, opened.broken);
      continue;
    }
    const held: Held = {
      lane,
      tag: message.fields.deliveryTag,
      copy: String(message.properties.messageId),
      queue: request.queue,
      token,
      envelope: atClaim(opened.envelope, brokerCounts(message)),
      body: message.content,
      takenAt,
      endsAt: takenAt + request.leaseMs,
      state: 'leased',
      place: -1,
    };
    session.held.add(held);
    leases.push(leaseOf(held, opened.payload, now));
  }
  return leases;
}

/** What has no envelope cannot be handed out: it goes to the dead letters, where it can be seen. */
async function buryBroken(session: Session, lane: Lane, message: Message, why: string): Promise<void> {
  const now = Date.now();
  const id = randomUUID();
  const bare = newEnvelope(
    {
      id,
      queue: lane.queue,
      type: 'unreadable',
      payload: '',
      headers: {},
      idempotencyKey: id,
      delayMs: 0,
      expiresInMs: null,
      priority: 0,
      dedupe: null,
      maxAttempts: null,
      maxDepth: null,
    },
    now,
  );
  const error = { code: 'PAYLOAD_CORRUPT', name: 'Error', message: why, stack: null, attempt: 1 };
  const envelope = { ...charged(bare, error, now, now), deadAt: now };
  const call = startCall('claim', { timeoutMs: 10_000 });
  const copy = { queue: lane.queue, envelope, payload: message.content, target: { to: 'dead' } as const };
  const [result] = await session.moves.copy([copy], call);
  if (!lane.isOpen) return;
  if (result?.status !== 'stored') return lane.reject(message.fields.deliveryTag);
  // Where it fails the broken one comes again, and there are two of it.
  await lane.acknowledge([message.fields.deliveryTag], call).catch(() => undefined);
}

function nothing(paused: boolean): Claim {
  return { leases: [], paused, leasedAt: performance.now() };
}
