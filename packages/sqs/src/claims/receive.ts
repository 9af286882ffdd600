import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { Call } from '../call.ts';
import { RESERVE_MS } from '../capabilities.ts';
import { atClaim } from '../envelope.ts';
import { type Decoded, decode } from '../message-text.ts';
import type { QueueUrls } from '../topology.ts';
import type { WireClient } from '../wire/client.ts';
import type { Requests } from '../wire/requests.ts';
import type { ServerClock } from '../wire/server-clock.ts';
import type { Taken } from './held.ts';
import type { LoopBeat } from './loop-beat.ts';

/** What receiving needs. */
export interface Receiving {
  readonly wire: WireClient;
  readonly requests: Requests;
  readonly clock: ServerClock;
  readonly beat: LoopBeat;
}

/** What to ask for. */
export interface Asking {
  readonly url: string;
  /** 1 to 10. */
  readonly max: number;
  /** Seconds that what comes is hidden from others. */
  readonly hiddenS: number;
  /** Seconds to wait for a first one; 0: ask once, which may miss what is there. */
  readonly waitS: number;
}

/** One message of an answer. */
export interface Received {
  readonly handle: string;
  readonly decoded: Decoded;
  readonly body: string;
  /** By the clock of the service. */
  readonly sentAt: number;
  readonly receives: number;
  /** By the clock of the service, as near as can be told. */
  readonly takenAtThere: number;
}

/** An answer, with what is known of when it was given (`performance.now()`). */
export interface ReceiveAnswer {
  readonly messages: readonly Received[];
  readonly askedAt: number;
  readonly takenAt: number;
}

/** One request. It is never given up for another reason than its deadline: the service may hand out to it what then is nobody's. */
export async function receive(parts: Receiving, asking: Asking, call: Call): Promise<ReceiveAnswer> {
  const { wire, requests, clock, beat } = parts;
  let askedAt = performance.now();
  beat.start();
  try {
    const answer = await requests.ask(call, {
      action: 'ReceiveMessage',
      verb: 'receive',
      url: asking.url,
      wire,
      isRepeatable: false,
      send: (abortSignal) => {
        askedAt = performance.now();
        const command = new ReceiveMessageCommand({
          QueueUrl: asking.url,
          MaxNumberOfMessages: asking.max,
          VisibilityTimeout: asking.hiddenS,
          WaitTimeSeconds: asking.waitS,
          MessageSystemAttributeNames: [
            'ApproximateReceiveCount',
            'SentTimestamp',
            'ApproximateFirstReceiveTimestamp',
          ],
        });
        return wire.client.send(command, { abortSignal });
      },
    });
    const readAt = performance.now();
    const takenAt = asking.waitS > 0 ? Math.max(askedAt, beat.at) : askedAt;
    const messages = (answer.Messages ?? []).map(
      ({ Body = '', ReceiptHandle = '', Attributes = {} }): Received => {
        const sentAt = Number(Attributes.SentTimestamp ?? 0);
        const receives = Number(Attributes.ApproximateReceiveCount ?? 1);
        const first = Number(Attributes.ApproximateFirstReceiveTimestamp ?? 0);
        if (receives === 1 && first > 0) clock.heardInstant(first, readAt);
        return {
          handle: ReceiptHandle,
          decoded: decode(Body, sentAt),
          body: Body,
          sentAt,
          receives,
          takenAtThere: receives === 1 && first > 0 ? first : Math.max(first, clock.likely()),
        };
      },
    );
    return { messages, askedAt, takenAt };
  } finally {
    beat.stop();
  }
}

/** A job out of an answer; `broken`: what cannot be read is for the dead letters. */
export function takenOf(
  received: Received,
  answer: ReceiveAnswer,
  place: { readonly queue: string; readonly urls: QueueUrls; readonly hiddenS: number },
): Taken | { readonly broken: string } {
  const { decoded, receives, handle, takenAtThere } = received;
  if ('broken' in decoded) return decoded;
  return {
    ...place,
    handle,
    envelope: atClaim(decoded.envelope, receives),
    payload: decoded.payload,
    takenAtThere,
    askedAt: answer.askedAt,
    hiddenUntil: answer.takenAt + place.hiddenS * 1000 - RESERVE_MS,
  };
}
