import type { Call } from './call.ts';
import { failure } from './call.ts';
import type { Envelope } from './envelope.ts';
import { encode } from './message-text.ts';
import { MAX_DELAY_S } from './service-limits.ts';
import type { Session } from './session.ts';
import type { QueueUrls } from './topology.ts';
import type { Batcher, EntryResult } from './wire/batcher.ts';
import type { ServerClock } from './wire/server-clock.ts';

/** A message to send. */
export interface Outgoing {
  readonly MessageBody: string;
  readonly DelaySeconds: number;
}

/** Where a copy goes. `later`: 0 is now. */
export type Target = { readonly to: 'dead' } | { readonly to: 'later'; readonly delayMs: number };

/** What sending needs. */
export interface Sending {
  readonly sender: Batcher<Outgoing>;
  readonly clock: ServerClock;
  readonly maxMessageBytes: number;
}

const MAX_DELAY_MS = MAX_DELAY_S * 1000;

/** Sends a job to where it belongs: among the ready ones with the delay that the service can keep, else to wait for the pump. Never rejects. */
export async function send(
  { sender, clock, maxMessageBytes }: Sending,
  urls: QueueUrls,
  job: { readonly envelope: Envelope; readonly payload: string },
  target: Target,
  call: Call,
): Promise<EntryResult> {
  const delayMs = target.to === 'later' ? Math.max(0, target.delayMs) : 0;
  const text = encode(job.envelope, job.payload, { now: clock.likely(), delayMs, maxBytes: maxMessageBytes });
  if (text === null) {
    const what = `The job takes more than the ${maxMessageBytes} bytes of a message.`;
    const error = failure('PAYLOAD_TOO_LARGE', what, call.operation, { jobId: job.envelope.id });
    return { status: 'refused', error, native: 'TooLarge' };
  }
  const url = target.to === 'dead' ? urls.dead : delayMs > MAX_DELAY_MS ? urls.delay : urls.ready;
  return sender.add(url, { MessageBody: text, DelaySeconds: hiddenFor(delayMs) }, call);
}

/** The message whose copy was sent. */
export interface Original {
  readonly queue: string;
  /** Null: it has no envelope. */
  readonly id: string | null;
  readonly url: string;
  readonly handle: string;
}

/**
 * Deletes the original once its copy is stored (B061). Nobody waits for what becomes of it, so where both may be there now, that is told: the copy's answer or
 * the delete's was lost, or the message was no longer ours.
 */
export async function endOriginal(
  { deleter, notify }: Pick<Session, 'deleter' | 'notify'>,
  { queue, id, url, handle }: Original,
  sent: EntryResult,
  call: Call,
): Promise<void> {
  if (sent.status === 'refused') return;
  const ended = sent.status === 'done' ? await deleter.add(url, { ReceiptHandle: handle }, call) : sent;
  if (ended.status === 'done') return;
  const message = `An answer was lost when a job of queue "${queue}" was moved; it may be there twice: ${id ?? '(unreadable)'}`;
  notify({ kind: 'warning', code: 'OUTCOME_UNKNOWN', message });
}

/** Seconds that the service keeps it back: until it is due, never shorter; or until the pump has to see it first. */
function hiddenFor(delayMs: number): number {
  if (delayMs <= MAX_DELAY_MS) return Math.ceil(delayMs / 1000);
  return Math.min(MAX_DELAY_S, Math.floor((delayMs - MAX_DELAY_MS) / 1000));
}
