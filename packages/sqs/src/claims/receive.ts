import type { MessageSystemAttributeName } from '@aws-sdk/client-sqs';
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

const ATTRIBUTES = [
  'ApproximateReceiveCount',
  'SentTimestamp',
  'ApproximateFirstReceiveTimestamp',
] as const satisfies readonly MessageSystemAttributeName[];

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
  readonly messageId: string;
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
      send: (signal) => {
        askedAt = performance.now();
        const input = {
          QueueUrl: asking.url,
          MaxNumberOfMessages: asking.max,
          VisibilityTimeout: asking.hiddenS,
          WaitTimeSeconds: asking.waitS,
          MessageSystemAttributeNames: [...ATTRIBUTES],
        };
        return wire.hot.ask('ReceiveMessage', input, signal);
      },
    });
    const readAt = performance.now();
    const takenAt = asking.waitS > 0 ? Math.max(askedAt, beat.at) : askedAt;
    const messages = (answer.Messages ?? []).map(
      ({ Body = '', MessageId = '', ReceiptHandle = '', Attributes = {} }): Received => {
        const sentAt = Number(Attributes.SentTimestamp ?? 0);
        const receives = Number(Attributes.ApproximateReceiveCount ?? 1);
        const first = Number(Attributes.ApproximateFirstReceiveTimestamp ?? 0);
        if (receives === 1 && first > 0) clock.heardInstant(first, readAt);
        return {
          handle: ReceiptHandle,
          messageId: MessageId,
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
  const { decoded, receives, handle, messageId, takenAtThere } = received;
  if ('broken' in decoded) return decoded;
  return {
    ...place,
    handle,
    copy: messageId,
    envelope: atClaim(decoded.envelope, receives),
    payload: decoded.payload,
    takenAtThere,
    askedAt: answer.askedAt,
    hiddenUntil: answer.takenAt + place.hiddenS * 1000 - RESERVE_MS,
  };
}
