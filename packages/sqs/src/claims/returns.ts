import { randomUUID } from 'node:crypto';
import { type Call, startCall } from '../call.ts';
import { RESERVE_MS } from '../capabilities.ts';
import { endOriginal, send, type Target } from '../copies.ts';
import { charged, newEnvelope, released } from '../envelope.ts';
import type { Session } from '../session.ts';
import type { QueueUrls } from '../topology.ts';
import type { Taken } from './held.ts';
import type { Received } from './receive.ts';

/** A copy of what nobody claimed has this long. */
const GIVE_BACK_MS = 5000;

/** Received, never claimed: back without a charge, which only a copy can do. */
export async function giveBack(session: Session, taken: readonly Taken[]): Promise<void> {
  if (taken.length === 0) return;
  const call = startCall('claim', { timeoutMs: GIVE_BACK_MS });
  await Promise.all(
    taken.map(async ({ queue, urls, envelope, payload, handle, hiddenUntil }) => {
      // Soon visible again by itself, and by then perhaps somebody else's.
      if (performance.now() > hiddenUntil) return;
      const now = session.clock.likely();
      const job = { envelope: released(envelope, 'unstarted', now), payload };
      const target: Target = { to: 'later', delayMs: Math.max(0, envelope.dueAt - now) };
      const original = { queue, id: envelope.id, url: urls.ready, handle };
      await endOriginal(session, original, await send(session, urls, job, target, call), call);
    }),
  );
}

/** Hides what was taken for so many seconds from now; the answer is what is still ours. */
export async function hide(
  session: Session,
  taken: readonly Taken[],
  hiddenS: number,
  call: Call,
): Promise<readonly Taken[]> {
  const sentAt = performance.now();
  const live = taken.filter(({ hiddenUntil }) => sentAt < hiddenUntil);
  const results = await Promise.all(
    live.map(({ urls, handle }) =>
      session.hider.add(urls.ready, { ReceiptHandle: handle, VisibilityTimeout: hiddenS }, call),
    ),
  );
  const ours: Taken[] = [];
  for (const [index, each] of live.entries()) {
    if (results[index]?.status !== 'done') continue;
    each.hiddenS = hiddenS;
    each.hiddenUntil = sentAt + hiddenS * 1000 - RESERVE_MS;
    ours.push(each);
  }
  return ours;
}

/** What has no envelope cannot be handed out: it goes to the dead letters, where it can be seen. */
export async function buryUnreadable(
  session: Session,
  queue: string,
  urls: QueueUrls,
  { body, handle }: Received,
  why: string,
): Promise<void> {
  const id = randomUUID();
  const bare = newEnvelope({
    id,
    queue,
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
  });
  const now = session.clock.likely();
  const error = { code: 'PAYLOAD_CORRUPT', name: 'Error', message: why, stack: null, attempt: 1 };
  const envelope = { ...charged(bare, error, now), isDead: true };
  const call = startCall('claim', { timeoutMs: GIVE_BACK_MS });
  const sent = await send(session, urls, { envelope, payload: body }, { to: 'dead' }, call);
  await endOriginal(session, { queue, id, url: urls.ready, handle }, sent, call);
}
